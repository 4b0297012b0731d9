import fc from "fast-check";
import { expect, test } from "vitest";
import { ONE_USD } from "../money/usd.ts";
import { executionCost } from "./execution-cost.ts";

const ether = { decimals: 18, priceUsd: 2_500n * ONE_USD };

test("gas, value and flat fee add up", () => {
  const spending = { gas: 100_000n, weiPerGas: 2_000_000_000n, valueWei: 10n ** 16n, flatUsd: ONE_USD / 50n };
  expect(executionCost(spending, ether)).toEqual({
    gasUsd: ONE_USD / 2n,
    valueUsd: 25n * ONE_USD,
    flatUsd: ONE_USD / 50n,
    totalUsd: (2552n * ONE_USD) / 100n,
  });
});

test("charges value at its sale price, and the data fee like gas", () => {
  const spending = { gas: 0n, weiPerGas: 0n, dataFeeWei: 10n ** 15n, valueWei: 10n ** 16n, flatUsd: 0n };
  expect(executionCost(spending, { ...ether, salePriceUsd: 2_600n * ONE_USD })).toMatchObject({
    gasUsd: (5n * ONE_USD) / 2n,
    valueUsd: 26n * ONE_USD,
  });
});

test("rounds a fraction of the smallest USD unit up", () => {
  const cheap = { decimals: 18, priceUsd: 1n };
  expect(executionCost({ gas: 1n, weiPerGas: 1n, valueWei: 1n, flatUsd: 0n }, cheap).totalUsd).toBe(2n);
});

test("never exceeds the cost reserved for at least as much gas at the same or a higher price", () => {
  const natural = fc.bigInt({ min: 0n, max: 10n ** 15n });
  fc.assert(
    fc.property(natural, natural, natural, natural, natural, (gas, unusedGas, wei, unusedWei, valueWei) => {
      const shared = { valueWei, flatUsd: 1n };
      const max = executionCost({ gas: gas + unusedGas, weiPerGas: wei + unusedWei, ...shared }, ether);
      expect(executionCost({ gas, weiPerGas: wei, ...shared }, ether).totalUsd).toBeLessThanOrEqual(
        max.totalUsd,
      );
    }),
  );
});
