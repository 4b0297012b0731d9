import fc from "fast-check";
import { expect, test } from "vitest";
import { amountToUsdDown } from "../money/usd.ts";
import { swapImpactBps, swapLoss } from "./swap-cost.ts";

const USD = 10n ** 18n;
const amount = fc.bigInt({ min: 1n, max: 10n ** 30n });
const unit = fc.record({
  decimals: fc.integer({ min: 0, max: 18 }),
  priceUsd: fc.bigInt({ min: 1n, max: 10n ** 23n }),
});
const swap = fc.record({ amountIn: amount, amountOut: amount, spotOut: amount });

test("the impact is at least the loss against the pools' price, and never above 100 %", () => {
  fc.assert(
    fc.property(swap, unit, unit, (one, from, to) => {
      const impact = swapImpactBps(one, from, to);
      expect(impact >= ((one.spotOut - one.amountOut) * 10_000n) / one.spotOut).toBe(true);
      expect(impact <= 10_000n).toBe(true);
    }),
  );
});

test("more output never has more impact", () => {
  fc.assert(
    fc.property(swap, unit, unit, amount, (one, from, to, more) => {
      const better = { ...one, amountOut: one.amountOut + more };
      // A worthless output has no known price, so that only the pools' price counts.
      if (amountToUsdDown(one.amountOut, to) === 0n) return;
      expect(swapImpactBps(better, from, to) <= swapImpactBps(one, from, to)).toBe(true);
    }),
  );
});

test("without a market price, only the pools' price counts", () => {
  const one = { amountIn: 100n, amountOut: 90n, spotOut: 100n };
  const known = { decimals: 0, priceUsd: USD };
  expect(swapImpactBps(one, { decimals: 0, priceUsd: 0n }, known)).toBe(1_000n);
  expect(swapImpactBps(one, known, { decimals: 0, priceUsd: 0n })).toBe(1_000n);
  expect(swapImpactBps({ ...one, spotOut: 90n }, known, known)).toBe(1_000n);
});

test("a loss is at most the swap's input, and zero if the pools gave their own price", () => {
  fc.assert(
    fc.property(swap, unit, unit, (one, paid, deposited) => {
      const loss = swapLoss(one, paid, deposited);
      expect(loss >= 0n).toBe(true);
      expect(amountToUsdDown(loss, deposited) <= amountToUsdDown(one.amountIn, paid)).toBe(true);
      if (one.spotOut <= one.amountOut) expect(loss).toBe(0n);
    }),
  );
});
