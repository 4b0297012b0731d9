import fastify from "fastify";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { endConnectionsOnClose } from "./end-connections.ts";

/** A server whose route `/slow` answers only once the test calls `answer`. */
async function startServer() {
  const app = fastify({ keepAliveTimeout: 60_000 });
  endConnectionsOnClose(app);
  const [requested, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  app.get("/slow", async () => {
    requested.resolve();
    await answer.promise;
    return "answered";
  });
  app.get("/quick", () => "answered");
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  return { app, url, requested: requested.promise, answer: () => answer.resolve() };
}

async function msToClose(close: Promise<unknown>): Promise<number> {
  const startedAtMs = performance.now();
  await close;
  return performance.now() - startedAtMs;
}

test("answers a request in progress, and its keep-alive connection does not delay the close", async () => {
  const { app, url, requested, answer } = await startServer();
  const response = fetch(`${url}/slow`);
  await requested;
  const closed = msToClose(app.close());
  answer();
  expect(await (await response).text()).toBe("answered");
  expect(await closed).toBeLessThan(2_000);
});

test("idle keep-alive connections do not delay the close", async () => {
  const { app, url } = await startServer();
  await Promise.all([1, 2, 3].map(async () => await (await fetch(`${url}/quick`)).text()));
  expect(await msToClose(app.close())).toBeLessThan(2_000);
});

test("a connection without any request does not delay the close", async () => {
  const { app, url } = await startServer();
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  await new Promise((resolve) => socket.once("connect", resolve));
  expect(await msToClose(app.close())).toBeLessThan(2_000);
});

test("a server that never listened closes as well", async () => {
  const app = fastify();
  endConnectionsOnClose(app);
  expect(await msToClose(app.close())).toBeLessThan(1_000);
});
