import { expect, test } from "vitest";
import { someTerms } from "../../../../../test/support/terms.ts";
import type { Order } from "@causeway/domain";
import { backoff } from "./backoff.ts";
import { weightedDifference } from "./judge-payment.ts";

const { order } = someTerms();
const asking = (amount: bigint, weight = 1n): Order => ({
  ...order,
  inputs: [{ payment: { chainId: "one", currency: "0x", amount, weight }, refunds: [] }],
});

test("the difference is what was paid above the order, in parts of 1e18, cut toward zero on both sides", () => {
  expect(weightedDifference(asking(100n), 100n)).toBe(0n);
  expect(weightedDifference(asking(100n), 150n)).toBe(5n * 10n ** 17n);
  expect(weightedDifference(asking(3n), 4n)).toBe(333_333_333_333_333_333n);
  expect(weightedDifference(asking(3n), 2n)).toBe(-333_333_333_333_333_333n);
  expect(weightedDifference(asking(3n, 7n), 4n)).toBe(333_333_333_333_333_333n);
});

test("the pause before the next try doubles, up to the most, however many tries there were", () => {
  const policy = { retryMs: 1_000, maxRetryMs: 300_000 };
  expect([0, 1, 2, 8, 9, 5_000].map((tries) => backoff(policy, tries))).toEqual([
    1_000, 2_000, 4_000, 256_000, 300_000, 300_000,
  ]);
});
