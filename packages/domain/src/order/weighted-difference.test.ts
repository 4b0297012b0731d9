import { expect, test } from "vitest";
import type { Order } from "./order.ts";
import { scaledMinimum, weightedDifference } from "./weighted-difference.ts";

/** Inputs of an order as [amount, weight]. */
function orderRequesting(...inputs: readonly (readonly [bigint, bigint])[]): Order {
  return {
    version: "v1",
    solverChainId: "one",
    solver: "0x",
    salt: "0x",
    inputs: inputs.map(([amount, weight]) => ({
      payment: { chainId: "one", currency: "0x", amount, weight },
      refunds: [],
    })),
    output: { chainId: "two", payments: [], calls: [], deadline: 0, extraData: "0x" },
    fees: [],
  };
}

test("the difference is the surplus over the order in parts of 1e18, truncated toward zero on both sides", () => {
  expect(weightedDifference(orderRequesting([100n, 1n]), [100n])).toBe(0n);
  expect(weightedDifference(orderRequesting([100n, 1n]), [150n])).toBe(5n * 10n ** 17n);
  expect(weightedDifference(orderRequesting([3n, 1n]), [4n])).toBe(333_333_333_333_333_333n);
  expect(weightedDifference(orderRequesting([3n, 1n]), [2n])).toBe(-333_333_333_333_333_333n);
  expect(weightedDifference(orderRequesting([3n, 7n]), [4n])).toBe(333_333_333_333_333_333n);
});

test("inputs count by their weight, and an unpaid input counts as zero", () => {
  expect(weightedDifference(orderRequesting([1n, 2n], [1n, 1n]), [1n, 2n])).toBe(333_333_333_333_333_333n);
  expect(weightedDifference(orderRequesting([1n, 2n], [1n, 1n]), [1n])).toBe(-333_333_333_333_333_333n);
});

test("an order without amounts has no difference", () => {
  expect(() => weightedDifference(orderRequesting([0n, 1n]), [1n])).toThrow(RangeError);
  expect(() => weightedDifference(orderRequesting([1n, 0n]), [1n])).toThrow(RangeError);
});

test("a minimum refund scales with the deposit, and never exceeds it", () => {
  const order = orderRequesting([1_000n, 1n]);
  expect(scaledMinimum(900n, weightedDifference(order, [1_000n]))).toBe(900n);
  expect(scaledMinimum(900n, weightedDifference(order, [1_500n]))).toBe(1_350n);
  expect(scaledMinimum(900n, weightedDifference(order, [500n]))).toBe(450n);
});
