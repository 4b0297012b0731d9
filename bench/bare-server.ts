// A separate process: a minimal Fastify server for the two measured routes.
import fastify from "fastify";
import { readFileSync } from "node:fs";
import { bareKey, type BareAnswers } from "./bare-answers.ts";

const JSON_TYPE = "application/json; charset=utf-8";

const [port = "", answersFile = ""] = process.argv.slice(2);
const answers = JSON.parse(readFileSync(answersFile, "utf8")) as BareAnswers;
const quotes = new Map(Object.entries(answers.quotes));

const app = fastify({ logger: false });
app.post<{ Body: { originChainId: number; originCurrency: string } }>("/quote/v2", (request, reply) => {
  const answer = quotes.get(bareKey(request.body));
  if (answer === undefined) reply.code(404).send();
  else reply.header("content-type", JSON_TYPE).send(answer);
});
app.get("/intents/status/v3", (_request, reply) => {
  reply.header("content-type", JSON_TYPE).send(answers.status);
});
process.once("SIGTERM", () => void app.close());
await app.listen({ host: "127.0.0.1", port: Number(port) });
