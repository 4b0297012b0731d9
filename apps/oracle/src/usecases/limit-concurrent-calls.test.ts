import { expect, test } from "vitest";
import { limitConcurrentCalls } from "./limit-concurrent-calls.ts";

test("refuses only the caller over its limit, until one of its calls ends", () => {
  const enter = limitConcurrentCalls({ perCaller: 2, total: 10 });
  const releaseFirst = enter("a");
  enter("a");
  expect(() => enter("a")).toThrow(expect.objectContaining({ code: "rate_limited", retryAfterSeconds: 1 }));
  enter("b");
  releaseFirst();
  releaseFirst();
  enter("a");
  expect(() => enter("a")).toThrow("too many concurrent attestations of this caller (limit 2)");
});

test("refuses all callers once the total limit is reached", () => {
  const enter = limitConcurrentCalls({ perCaller: 2, total: 3 });
  const releases = ["a", "b", "c"].map((caller) => enter(caller));
  expect(() => enter("d")).toThrow(expect.objectContaining({ code: "overloaded", retryAfterSeconds: 1 }));
  releases[0]?.();
  enter("d");
});
