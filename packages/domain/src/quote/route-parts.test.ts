import fc from "fast-check";
import { expect, test } from "vitest";
import { pairInput, pairOutput } from "../liquidity/constant-product-pair.ts";
import { pow10 } from "../money/pow10.ts";
import type { SwapQuoter } from "./route-parts.ts";
import { routeInput, routeOutput } from "./route-parts.ts";
import type { PricingFacts } from "./output-for-input.ts";
import { minAmount } from "./search-min-amount.ts";

/** A constant-product pool. */
function pair(reserve0: bigint, reserve1: bigint): SwapQuoter {
  const pool = { reserve0, reserve1, feeBps: 30n };
  return {
    exactIn: (amountIn) => ({ amountIn, amountOut: pairOutput(pool, true, amountIn) }),
    exactOut: (amountOut) => {
      const amountIn = pairInput(pool, true, amountOut);
      return amountIn === undefined ? undefined : { amountIn, amountOut };
    },
  };
}

const facts = (change: Partial<PricingFacts> = {}): PricingFacts => ({
  origin: { decimals: 6, priceUsd: pow10(18) },
  destination: { decimals: 18, priceUsd: 2_000n * pow10(18) },
  destinationNative: { decimals: 18, priceUsd: 2_000n * pow10(18) },
  fillGasCostWei: 200_000n * 10n ** 9n,
  flatUsd: 2n * 10n ** 16n,
  serviceBps: 15,
  appBps: 0,
  ...change,
});

const reserve = fc.bigInt({ min: 10n ** 9n, max: 10n ** 26n });

test("the smallest input through both swaps buys the output, and one unit less does not", () => {
  const side = fc.option(fc.tuple(reserve, reserve), { nil: undefined });
  let foundRoutes = 0;
  fc.assert(
    fc.property(
      side,
      side,
      fc.bigInt({ min: 1n, max: 10n ** 20n }),
      fc.nat(100),
      (o, d, output, serviceBps) => {
        const parts = {
          origin: o && pair(...o),
          destination: d && pair(...d),
          facts: facts({ serviceBps }),
        };
        const smallest = routeInput(output, parts);
        if (smallest === undefined) return;
        foundRoutes++;
        const reached = routeOutput(smallest.input, parts);
        expect(reached!.expected).toBeGreaterThanOrEqual(output);
        const smaller = smallest.input > 1n ? routeOutput(smallest.input - 1n, parts) : undefined;
        expect(smaller === undefined || smaller.expected < output).toBe(true);
        expect(smallest.expected).toBe(output);
      },
    ),
    { numRuns: 1_000 },
  );
  expect(foundRoutes).toBeGreaterThan(300);
});

test("the output never falls when the input grows", () => {
  fc.assert(
    fc.property(
      fc.tuple(reserve, reserve, reserve, reserve),
      fc.bigInt({ min: 1n, max: 10n ** 24n }),
      fc.bigInt({ min: 0n, max: 10n ** 12n }),
      ([a, b, c, d], input, more) => {
        const parts = { origin: pair(a, b), destination: pair(c, d), facts: facts() };
        const output = (amount: bigint) => routeOutput(amount, parts)?.expected ?? 0n;
        expect(output(input + more) >= output(input)).toBe(true);
      },
    ),
  );
});

test("the caller of a swap gets the swap's error", () => {
  const failing: SwapQuoter = {
    exactIn: () => {
      throw new Error("gone");
    },
    exactOut: () => undefined,
  };
  const parts = { origin: failing, destination: undefined, facts: facts() };
  expect(() => routeOutput(1n, parts)).toThrow("gone");
  expect(routeInput(1n, parts)).toBeUndefined();
});

test("returns no route if the pools cannot fill an amount", () => {
  const parts = { origin: undefined, destination: pair(10n ** 18n, 1_000n), facts: facts() };
  expect(routeInput(1_000n, parts)).toBeUndefined();
  expect(routeOutput(1n, parts)).toBeUndefined();
});

test("finds the smallest amount from any guess, and with two calls from a correct one", () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: 10n ** 12n }),
      fc.integer({ min: -40, max: 300 }),
      (smallest, percentOff) => {
        const guess = smallest + (smallest * BigInt(percentOff)) / 100n;
        let calls = 0;
        const reaches = (amount: bigint): boolean => {
          calls++;
          return amount >= smallest;
        };
        expect(minAmount(guess, reaches)).toBe(smallest);
        if (guess === smallest) expect(calls).toBeLessThanOrEqual(2);
      },
    ),
  );
  expect(minAmount(10n, () => false)).toBeUndefined();
});
