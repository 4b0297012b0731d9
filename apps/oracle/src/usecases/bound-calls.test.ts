import { expect, test } from "vitest";
import { boundCalls } from "./bound-calls.ts";

test("a caller over its bound is refused until one of its calls ends, and others are not", () => {
  const enter = boundCalls({ perCaller: 2, total: 10 });
  const first = enter("a");
  enter("a");
  expect(() => enter("a")).toThrow(expect.objectContaining({ code: "rate_limited", retryAfterSeconds: 1 }));
  enter("b");
  first();
  first();
  enter("a");
  expect(() => enter("a")).toThrow("too many concurrent attestations of this caller (limit 2)");
});

test("above the total every caller is refused", () => {
  const enter = boundCalls({ perCaller: 2, total: 3 });
  const releases = ["a", "b", "c"].map((caller) => enter(caller));
  expect(() => enter("d")).toThrow(expect.objectContaining({ code: "overloaded", retryAfterSeconds: 1 }));
  releases[0]?.();
  enter("d");
});
