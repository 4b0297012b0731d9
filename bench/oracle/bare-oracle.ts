// A separate process: a minimal Fastify server for the two measured routes.
import fastify from "fastify";
import { readFileSync } from "node:fs";

const [port = "", answersFile = ""] = process.argv.slice(2);
const answers = Object.entries(JSON.parse(readFileSync(answersFile, "utf8")) as Record<string, string>);

const app = fastify({ logger: false });
app.get("/lives/v1", (_request, reply) => reply.send({ status: "ok" }));
for (const [path, answer] of answers)
  app.post(path, (_request, reply) =>
    reply.header("content-type", "application/json; charset=utf-8").send(answer),
  );
process.once("SIGTERM", () => void app.close());
await app.listen({ host: "127.0.0.1", port: Number(port) });
