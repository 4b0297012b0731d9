import { expect, test } from "vitest";
import { autoSlippageBps, MIN_SLIPPAGE_BPS, MAX_SLIPPAGE_BPS } from "./automatic-slippage.ts";

test("a deep pool with a stable price gets the minimum slippage", () => {
  expect(autoSlippageBps(1_000_000n, 1_000_000n, [0, 0])).toBe(MIN_SLIPPAGE_BPS);
});

test("adds slippage for the swap's own impact and for pools whose price moved", () => {
  // 400 bps of impact, a quarter of which is 100.
  expect(autoSlippageBps(960_000n, 1_000_000n, [])).toBe(MIN_SLIPPAGE_BPS + 100);
  expect(autoSlippageBps(1_000_000n, 1_000_000n, [30, 12])).toBe(MIN_SLIPPAGE_BPS + 42);
});

test("limits slippage, and treats an output above the spot price as no impact", () => {
  expect(autoSlippageBps(1n, 1_000_000n, [])).toBe(MAX_SLIPPAGE_BPS);
  expect(autoSlippageBps(5n, 5n, [9_000])).toBe(MAX_SLIPPAGE_BPS);
  expect(autoSlippageBps(6n, 5n, [])).toBe(MIN_SLIPPAGE_BPS);
});
