import { expect, test } from "vitest";
import type { FillTiming } from "../../scripts/soak/database.ts";
import { fillSpeed } from "./fill-speed.ts";

const timing = (requestId: string, seenAtMs: number, firstBroadcastAtMs: number): FillTiming => ({
  requestId,
  seenAtMs,
  firstBroadcastAtMs,
  confirmations: 0,
  chainId: 1,
  nonce: 0,
});

test("takes only the named fills, from the first block seen to the last broadcast", () => {
  const timings = [timing("a", 1_000, 1_100), timing("b", 1_500, 2_000), timing("other", 0, 9_000)];
  const { toBroadcastMs, allWithinSeconds, fillsPerSecond } = fillSpeed(["a", "b"], timings);
  expect(toBroadcastMs).toMatchObject({ count: 2, p50: 100, p99: 500 });
  expect(allWithinSeconds).toBe(1);
  expect(fillsPerSecond).toBe(2);
});

test("refuses figures when a fill was not broadcast", () => {
  expect(() => fillSpeed(["a", "b"], [timing("a", 0, 1)])).toThrow("1 of 2 fills were broadcast");
  expect(() => fillSpeed(["a"], [])).toThrow("0 of 1 fills were broadcast");
});
