import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as after } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { createPoster, type PostOutcome } from "./http-post.ts";

const closers: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const LARGE = 64 * 1024;

/**
 * A server that starts a large response to each text and ends it when the test does, with the outcome of each
 * text.
 */
async function startLargeServer() {
  const responses = new Map<string, ServerResponse>();
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      responses.set(text, response);
      response.write("a".repeat(LARGE + 1));
    });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  const poster = createPoster({
    origin: `http://127.0.0.1:${port}`,
    path: "/",
    headers: {},
    connections: 8,
    maxAnswerBytes: 1024 * 1024,
    largeAnswerBytes: LARGE,
  });
  closers.push(() => void server.close(), poster.close);
  const outcomes = new Map<string, PostOutcome>();
  return {
    outcomes,
    async post(text: string): Promise<() => void> {
      const abort = poster.post(text, (outcome) => outcomes.set(text, outcome));
      await expect.poll(() => responses.has(text)).toBe(true);
      await after(30);
      return abort;
    },
    /** Sends the last byte in a separate chunk, which only a client that continues to read gets. */
    finish: async (text: string) => {
      responses.get(text)?.end("b");
      await after(30);
    },
  };
}

test("reads two large responses concurrently, and a third once one of them is done", async () => {
  const server = await startLargeServer();
  for (const text of ["first", "second", "third"]) await server.post(text);
  await server.finish("third");
  expect([...server.outcomes.keys()]).toEqual([]);
  await server.finish("first");
  await expect.poll(() => [...server.outcomes.keys()]).toEqual(["first", "third"]);
  await server.finish("second");
  await expect.poll(() => server.outcomes.size).toBe(3);
  for (const outcome of server.outcomes.values())
    expect(outcome).toMatchObject({ status: 200, text: expect.stringMatching(/^a+b$/) });
});

test("an aborted large response frees its place, whether it was being read or waiting", async () => {
  const server = await startLargeServer();
  const abortFirst = await server.post("first");
  await server.post("second");
  const abortThird = await server.post("third");
  await server.post("fourth");
  await server.finish("fourth");
  abortThird();
  expect(server.outcomes.has("fourth")).toBe(false);
  abortFirst();
  await expect.poll(() => server.outcomes.get("fourth")).toMatchObject({ status: 200 });
});
