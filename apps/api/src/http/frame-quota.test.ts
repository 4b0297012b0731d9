import { expect, test } from "vitest";
import { frameQuota } from "./frame-quota.route.ts";

test("counts the frames of an address over all its sockets, and restarts with the next window", () => {
  const quota = frameQuota();
  const countTaken = (address: string, nowMs: number, frames: number): number =>
    Array.from({ length: frames }, () => quota.take(address, nowMs)).filter((isTaken) => isTaken).length;
  expect(countTaken("one", 0, 2_500)).toBe(2_000);
  expect(countTaken("other", 0, 2_500)).toBe(2_000);
  expect(countTaken("one", 10_000, 1)).toBe(0);
  expect(countTaken("one", 10_001, 2_500)).toBe(2_000);
});
