import fc from "fast-check";
import { expect, test } from "vitest";
import {
  MAX_SQRT_RATIO,
  MAX_TICK,
  MIN_SQRT_RATIO,
  MIN_TICK,
  sqrtRatioAtTick,
  tickAtSqrtRatio,
} from "./sqrt-ratio.ts";

const aTick = fc.integer({ min: MIN_TICK, max: MAX_TICK });

/** floor(sqrt(value)) by Newton's method. */
function squareRoot(value: bigint): bigint {
  let root = 1n << BigInt(Math.ceil(value.toString(2).length / 2));
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

/** sqrt(1.0001^tick) as Q64.96, by powers with 320 fractional bits. */
function exactRatio(tick: number): bigint {
  const oneQ320 = 1n << 320n;
  let base = (oneQ320 * 10_001n) / 10_000n;
  let power = oneQ320;
  for (let remainingBits = Math.abs(tick); remainingBits > 0; remainingBits >>= 1) {
    if ((remainingBits & 1) === 1) power = (power * base) >> 320n;
    base = (base * base) >> 320n;
  }
  const ratio = tick < 0 ? (oneQ320 * oneQ320) / power : power;
  return squareRoot(ratio << 192n) >> 160n;
}

test("the ratio of a tick is the square root of 1.0001^tick", () => {
  fc.assert(
    fc.property(aTick, (tick) => {
      const exact = exactRatio(tick);
      const error = sqrtRatioAtTick(tick) - exact;
      // Of 128 bits of precision, the smallest ratio keeps 64. The last rounding costs one unit.
      const allowed = 2n + (exact >> 62n);
      expect(-allowed <= error && error <= allowed).toBe(true);
    }),
  );
});

test("the ends and the middle match the deployed pools", () => {
  expect(sqrtRatioAtTick(MIN_TICK)).toBe(MIN_SQRT_RATIO);
  expect(sqrtRatioAtTick(MAX_TICK)).toBe(MAX_SQRT_RATIO);
  expect(sqrtRatioAtTick(0)).toBe(1n << 96n);
  expect(() => sqrtRatioAtTick(MAX_TICK + 1)).toThrow(RangeError);
  expect(() => sqrtRatioAtTick(0.5)).toThrow(RangeError);
});

test("a price belongs to the highest tick whose ratio it reaches, exact to the last unit", () => {
  fc.assert(
    fc.property(fc.integer({ min: MIN_TICK, max: MAX_TICK - 1 }), (tick) => {
      const ratio = sqrtRatioAtTick(tick);
      expect(tickAtSqrtRatio(ratio)).toBe(tick);
      expect(tickAtSqrtRatio(sqrtRatioAtTick(tick + 1) - 1n)).toBe(tick);
    }),
  );
  expect(() => tickAtSqrtRatio(MIN_SQRT_RATIO - 1n)).toThrow(RangeError);
  expect(() => tickAtSqrtRatio(MAX_SQRT_RATIO)).toThrow(RangeError);
});
