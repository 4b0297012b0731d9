import fc from "fast-check";
import { expect, test } from "vitest";
import { replacementFees } from "./replacement-fees.ts";

const wei = fc.bigInt({ min: 1n, max: 10n ** 12n });
const fees = fc.record({ maxFeePerGas: wei, maxPriorityFeePerGas: wei }).map((pair) => ({
  ...pair,
  maxPriorityFeePerGas:
    pair.maxPriorityFeePerGas < pair.maxFeePerGas ? pair.maxPriorityFeePerGas : pair.maxFeePerGas,
}));
const prices = fc
  .record({ base: wei, fees })
  .map(({ base, fees: live }) => ({ baseFeePerGas: base, ...live }));

test("raises both fees by at least 12.5 %, meets current prices and never exceeds the cap", () => {
  fc.assert(
    fc.property(fees, prices, wei, (latest, live, cap) => {
      const next = replacementFees(latest, live, cap);
      const needed = (fee: bigint): bigint => (fee * 11_250n) / 10_000n;
      if (next === undefined) {
        expect(needed(latest.maxFeePerGas) + 1n > cap || live.maxFeePerGas > cap).toBe(true);
        return;
      }
      expect(next.maxFeePerGas).toBeLessThanOrEqual(cap);
      expect(next.maxFeePerGas).toBeGreaterThan(needed(latest.maxFeePerGas) - 1n);
      expect(next.maxPriorityFeePerGas).toBeGreaterThan(needed(latest.maxPriorityFeePerGas) - 1n);
      expect(next.maxFeePerGas).toBeGreaterThanOrEqual(live.maxFeePerGas);
      expect(next.maxPriorityFeePerGas).toBeLessThanOrEqual(next.maxFeePerGas);
    }),
  );
});

test("offers no replacement at the cap", () => {
  const latest = { maxFeePerGas: 100n, maxPriorityFeePerGas: 10n };
  const live = { baseFeePerGas: 1n, maxFeePerGas: 5n, maxPriorityFeePerGas: 1n };
  expect(replacementFees(latest, live, 112n)).toBeUndefined();
  expect(replacementFees(latest, live, 113n)).toEqual({
    maxFeePerGas: 113n,
    maxPriorityFeePerGas: 12n,
  });
});
