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
const someSwap = fc.record({ amountIn: amount, amountOut: amount, spotOut: amount });

test("the impact is at least the loss against the pools' price, and never above 100 %", () => {
  fc.assert(
    fc.property(someSwap, unit, unit, (swap, from, to) => {
      const impact = swapImpactBps(swap, from, to);
      expect(impact >= ((swap.spotOut - swap.amountOut) * 10_000n) / swap.spotOut).toBe(true);
      expect(impact <= 10_000n).toBe(true);
    }),
  );
});

test("more output never has more impact", () => {
  fc.assert(
    fc.property(someSwap, unit, unit, amount, (swap, from, to, more) => {
      const better = { ...swap, amountOut: swap.amountOut + more };
      // A worthless output has no known price, so that only the pools' price counts.
      if (amountToUsdDown(swap.amountOut, to) === 0n) return;
      expect(swapImpactBps(better, from, to) <= swapImpactBps(swap, from, to)).toBe(true);
    }),
  );
});

test("without a market price, only the pools' price counts", () => {
  const swap = { amountIn: 100n, amountOut: 90n, spotOut: 100n };
  const priced = { decimals: 0, priceUsd: USD };
  expect(swapImpactBps(swap, { decimals: 0, priceUsd: 0n }, priced)).toBe(1_000n);
  expect(swapImpactBps(swap, priced, { decimals: 0, priceUsd: 0n })).toBe(1_000n);
  expect(swapImpactBps({ ...swap, spotOut: 90n }, priced, priced)).toBe(1_000n);
});

test("a loss is at most the swap's input, and zero if the pools gave their own price", () => {
  fc.assert(
    fc.property(someSwap, unit, unit, (swap, paid, deposited) => {
      const loss = swapLoss(swap, paid, deposited);
      expect(loss >= 0n).toBe(true);
      expect(amountToUsdDown(loss, deposited) <= amountToUsdDown(swap.amountIn, paid)).toBe(true);
      if (swap.spotOut <= swap.amountOut) expect(loss).toBe(0n);
    }),
  );
});
