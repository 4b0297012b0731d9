import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { concurrencyLimit } from "./concurrency-limit.ts";

test("runs at most the maximum at a time, and those that wait in the order of their calls", async () => {
  const limit = concurrencyLimit(2);
  const begun: string[] = [];
  const job = (name: string) => {
    const ends = Promise.withResolvers<string>();
    return { ends: () => ends.resolve(name), work: async () => (begun.push(name), await ends.promise) };
  };
  const [a, b, c, d] = [job("a"), job("b"), job("c"), job("d")];
  const all = [limit.run(a.work), limit.run(b.work), limit.run(c.work), limit.run(d.work)];
  await turn();
  expect(begun).toEqual(["a", "b"]);
  expect(limit.tryRun(a.work), "no room").toBeUndefined();
  b.ends();
  await turn();
  expect(begun).toEqual(["a", "b", "c"]);
  expect(limit.tryRun(a.work), "those that wait come first").toBeUndefined();
  for (const one of [a, c, d]) one.ends();
  expect(await Promise.all(all)).toEqual(["a", "b", "c", "d"]);
});

test("a failed job makes room", async () => {
  const limit = concurrencyLimit(1);
  await expect(limit.run(() => Promise.reject(new RangeError("failed")))).rejects.toThrow(RangeError);
  expect(await limit.tryRun(async () => 1)).toBe(1);
});
