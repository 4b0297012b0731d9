import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { concurrencyLimit } from "./concurrency-limit.ts";

test("runs at most the maximum number of jobs at a time, and waiting jobs in the order of their calls", async () => {
  const limit = concurrencyLimit(2);
  const begun: string[] = [];
  const job = (name: string) => {
    const ended = Promise.withResolvers<string>();
    return { end: () => ended.resolve(name), work: async () => (begun.push(name), await ended.promise) };
  };
  const [a, b, c, d] = [job("a"), job("b"), job("c"), job("d")];
  const results = [limit.run(a.work), limit.run(b.work), limit.run(c.work), limit.run(d.work)];
  await turn();
  expect(begun).toEqual(["a", "b"]);
  expect(limit.tryRun(a.work), "no room").toBeUndefined();
  b.end();
  await turn();
  expect(begun).toEqual(["a", "b", "c"]);
  expect(limit.tryRun(a.work), "waiting jobs come first").toBeUndefined();
  for (const { end } of [a, c, d]) end();
  expect(await Promise.all(results)).toEqual(["a", "b", "c", "d"]);
});

test("a failed job frees its place", async () => {
  const limit = concurrencyLimit(1);
  await expect(limit.run(() => Promise.reject(new RangeError("failed")))).rejects.toThrow(RangeError);
  expect(await limit.tryRun(async () => 1)).toBe(1);
});
