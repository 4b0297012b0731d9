import { expect, test } from "vitest";
import { gasCostWei } from "./gas-cost.ts";

test("gas costs the current price with at least the minimum priority fee, plus the margin, rounded up", () => {
  const price = { baseFeePerGas: 7n, maxPriorityFeePerGas: 1n };
  expect(gasCostWei(21_000, price, 3n, 0)).toBe(210_000n);
  expect(gasCostWei(1, price, 0n, 1_000)).toBe(9n);
});
