import { expect, test } from "vitest";
import { limitConcurrentCalls } from "./limit-concurrent-calls.ts";

test("refuses only the caller over its limit, until one of its calls ends", () => {
  const admitCall = limitConcurrentCalls({ perCaller: 2, total: 10 });
  const releaseFirst = admitCall("a");
  admitCall("a");
  expect(() => admitCall("a")).toThrow(
    expect.objectContaining({ code: "rate_limited", retryAfterSeconds: 1 }),
  );
  admitCall("b");
  releaseFirst();
  releaseFirst();
  admitCall("a");
  expect(() => admitCall("a")).toThrow("too many concurrent attestations of this caller (limit 2)");
});

test("refuses all callers once the total limit is reached", () => {
  const admitCall = limitConcurrentCalls({ perCaller: 2, total: 3 });
  const releases = ["a", "b", "c"].map((caller) => admitCall(caller));
  expect(() => admitCall("d")).toThrow(expect.objectContaining({ code: "overloaded", retryAfterSeconds: 1 }));
  releases[0]?.();
  admitCall("d");
});
