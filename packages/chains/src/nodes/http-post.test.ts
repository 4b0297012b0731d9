import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as after } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { createPoster, type PostEnd } from "./http-post.ts";

const closers: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const LARGE = 64 * 1024;

/**
 * A server that starts a large response to each text and ends it when the test does, with the outcome of each
 * text.
 */
async function largeAnswering() {
  const open = new Map<string, ServerResponse>();
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      open.set(text, response);
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
  const ended = new Map<string, PostEnd>();
  return {
    ended,
    async post(text: string): Promise<() => void> {
      const giveUp = poster.post(text, (end) => ended.set(text, end));
      await expect.poll(() => open.has(text)).toBe(true);
      await after(30);
      return giveUp;
    },
    /** Sends the last byte in a separate chunk, which only a client that continues to read gets. */
    finish: async (text: string) => {
      open.get(text)?.end("b");
      await after(30);
    },
  };
}

test("reads two large responses concurrently, and a third once one of them is done", async () => {
  const place = await largeAnswering();
  for (const text of ["first", "second", "third"]) await place.post(text);
  await place.finish("third");
  expect([...place.ended.keys()]).toEqual([]);
  await place.finish("first");
  await expect.poll(() => [...place.ended.keys()]).toEqual(["first", "third"]);
  await place.finish("second");
  await expect.poll(() => place.ended.size).toBe(3);
  for (const end of place.ended.values())
    expect(end).toMatchObject({ status: 200, text: expect.stringMatching(/^a+b$/) });
});

test("an aborted large response frees its place, whether it was being read or waiting", async () => {
  const place = await largeAnswering();
  const giveUpFirst = await place.post("first");
  await place.post("second");
  const giveUpThird = await place.post("third");
  await place.post("fourth");
  await place.finish("fourth");
  giveUpThird();
  expect(place.ended.has("fourth")).toBe(false);
  giveUpFirst();
  await expect.poll(() => place.ended.get("fourth")).toMatchObject({ status: 200 });
});
