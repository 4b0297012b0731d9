import { expect, test } from "vitest";
import { autoSlippageBps, MIN_SLIPPAGE_BPS, MAX_SLIPPAGE_BPS } from "./auto-slippage.adapter.ts";

test("a deep pool that did not move is given the least room", () => {
  expect(autoSlippageBps(1_000_000n, 1_000_000n, [0, 0])).toBe(MIN_SLIPPAGE_BPS);
});

test("an exchange that moves its pools far, or pools that moved by themselves, are given more", () => {
  // 400 bps of impact, a quarter of which is 100.
  expect(autoSlippageBps(960_000n, 1_000_000n, [])).toBe(MIN_SLIPPAGE_BPS + 100);
  expect(autoSlippageBps(1_000_000n, 1_000_000n, [30, 12])).toBe(MIN_SLIPPAGE_BPS + 42);
});

test("there is an end to it, and what came out better than the price has no impact", () => {
  expect(autoSlippageBps(1n, 1_000_000n, [])).toBe(MAX_SLIPPAGE_BPS);
  expect(autoSlippageBps(5n, 5n, [9_000])).toBe(MAX_SLIPPAGE_BPS);
  expect(autoSlippageBps(6n, 5n, [])).toBe(MIN_SLIPPAGE_BPS);
});
