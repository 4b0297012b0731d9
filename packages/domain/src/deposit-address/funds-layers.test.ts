import fc from "fast-check";
import { expect, test } from "vitest";
import {
  confirmedPart,
  layersBeyond,
  MAX_FUNDS_LAYERS,
  oldestLayers,
  readBalance,
  seenSince,
  totalOf,
} from "./funds-layers.ts";
import type { FundsLayer } from "./funds-layers.ts";

const layerAt = (block: number, amount: bigint): FundsLayer => ({
  amount,
  sinceBlock: BigInt(block),
  unseenBlock: BigInt(block) - 1n,
  seenAtMs: block * 1_000,
});

/** The layers after these balances were read, one per block. */
function read(balances: readonly bigint[], first = 1): readonly FundsLayer[] {
  return balances.reduce<readonly FundsLayer[]>(
    (layers, balance, n) => readBalance(layers, layerAt(first + n, balance)),
    [],
  );
}

test("a payment is confirmed after the blocks that its value needs, even if dust is added", () => {
  const payment = 1_000_000n;
  for (const before of [0, 3, 20]) {
    const dusted = Array.from({ length: before }, (_, n) => BigInt(n + 1));
    const paymentBlock = before + 1;
    const later = Array.from({ length: 300 }, (_, n) => payment + BigInt(before + n));
    for (let blocks = 1; blocks <= 300; blocks++) {
      const layers = read([...dusted, ...later.slice(0, blocks)]);
      const confirmed = confirmedPart(layers, BigInt(paymentBlock + blocks - 1), (amount) =>
        amount >= payment ? 64 : 1,
      );
      expect([before, blocks, confirmed >= payment]).toEqual([before, blocks, blocks >= 64]);
      expect(layers.length).toBeLessThanOrEqual(MAX_FUNDS_LAYERS);
    }
  }
});

test("the balance never fell below the confirmed part, and layers add up to the balance", () => {
  const balances = fc.array(fc.bigInt(0n, 1_000n), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(balances, fc.integer({ min: 1, max: 12 }), (seen, confirmations) => {
      const layers = read(seen);
      expect(totalOf(layers)).toBe(seen.at(-1));
      const confirmed = confirmedPart(layers, BigInt(seen.length), () => confirmations);
      const lowest = seen.slice(-confirmations).reduce((a, b) => (a < b ? a : b));
      expect(confirmed).toBeLessThanOrEqual(seen.length >= confirmations ? lowest : 0n);
    }),
    { numRuns: 2_000 },
  );
});

test("the oldest part and the rest add up to the balance", () => {
  const someLayers = fc
    .array(fc.bigInt(1n, 100n), { maxLength: 8 })
    .map((amounts) => amounts.map((a, n) => layerAt(n, a)));
  fc.assert(
    fc.property(someLayers, fc.bigInt(0n, 900n), (layers, amount) => {
      const total = totalOf(layers);
      expect(totalOf(oldestLayers(layers, amount))).toBe(amount < total ? amount : total);
      expect(totalOf(layersBeyond(layers, amount))).toBe(amount < total ? total - amount : 0n);
    }),
  );
});

test("an amount arrived when the balance first reached it, regardless of earlier or later funds", () => {
  const layers = [layerAt(1, 1n), layerAt(5, 100n), layerAt(9, 1n)];
  expect(seenSince(layers, 100n)).toBe(5_000);
  expect(seenSince(layers, 102n)).toBe(9_000);
  expect(seenSince(layers, 103n)).toBeUndefined();
  // The newest layer is removed first.
  expect(readBalance(layers, layerAt(10, 50n))).toEqual([layerAt(1, 1n), layerAt(5, 49n)]);
});
