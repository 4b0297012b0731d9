import fc from "fast-check";
import { expect, test } from "vitest";
import { swapConcentrated, spotConcentrated, type ConcentratedPool } from "./concentrated-pool.ts";
import { pairInput, pairOutput, spotPair } from "./constant-product-pair.ts";
import { MAX_TICK, MIN_TICK, sqrtRatioAtTick, tickAtSqrtRatio } from "./sqrt-ratio.ts";
import { pathInput, pathOutput, pathSpot, type Hop } from "./swap-path.ts";

interface Position {
  readonly from: number;
  readonly to: number;
  readonly liquidity: bigint;
}

/** A pool with these positions, with all of its ticks known by default. */
function poolOf(
  sqrtPrice: bigint,
  spacing: number,
  fee: bigint,
  positions: readonly Position[],
  knownRange: { from: number; to: number } = { from: MIN_TICK, to: MAX_TICK },
): ConcentratedPool {
  const tick = tickAtSqrtRatio(sqrtPrice);
  const net = new Map<number, bigint>();
  let liquidity = 0n;
  for (const position of positions) {
    net.set(position.from, (net.get(position.from) ?? 0n) + position.liquidity);
    net.set(position.to, (net.get(position.to) ?? 0n) - position.liquidity);
    if (position.from <= tick && tick < position.to) liquidity += position.liquidity;
  }
  const indexes = [...net.keys()]
    .filter((tickIndex) => tickIndex >= knownRange.from && tickIndex <= knownRange.to)
    .toSorted((a, b) => a - b);
  const ticks = { ...knownRange, indexes, net: indexes.map((tickIndex) => net.get(tickIndex) as bigint) };
  return { sqrtPrice, tick, liquidity, fee, tickSpacing: spacing, ticks };
}

const aSpacing = fc.constantFrom([1, 100n], [10, 500n], [60, 3_000n], [200, 10_000n]) as fc.Arbitrary<
  [number, bigint]
>;

const aPool: fc.Arbitrary<ConcentratedPool> = fc
  .tuple(aSpacing, fc.integer({ min: -60_000, max: 60_000 }), fc.bigInt({ min: 0n, max: 1n << 60n }))
  .chain(([[spacing, fee], tick, offset]) => {
    const center = Math.round(tick / spacing);
    const aPosition = fc
      .record({
        below: fc.integer({ min: -400, max: 400 }),
        width: fc.integer({ min: 1, max: 900 }),
        liquidity: fc.bigInt({ min: 1n, max: 1n << 90n }),
      })
      .map(({ below, width, liquidity }) => ({
        from: (center + below) * spacing,
        to: (center + below + width) * spacing,
        liquidity,
      }));
    const price = sqrtRatioAtTick(tick) + offset;
    const whole = { from: (center - 300) * spacing, to: (center + 300) * spacing, liquidity: 1n << 70n };
    return fc
      .array(aPosition, { maxLength: 6 })
      .map((positions) => poolOf(price, spacing, fee, [whole, ...positions]));
  });

const anAmount = fc.oneof(fc.bigInt({ min: 1n, max: 1n << 40n }), fc.bigInt({ min: 1n, max: 1n << 90n }));

test("the input for an output buys at least that output, and no much smaller input does", () => {
  let reached = 0;
  fc.assert(
    fc.property(aPool, fc.boolean(), anAmount, (pool, zeroForOne, amount) => {
      const bought = swapConcentrated(pool, zeroForOne, "exactOut", amount);
      if (!bought.complete) return;
      reached++;
      expect(bought.amountOut).toBe(amount);
      const sold = swapConcentrated(pool, zeroForOne, "exactIn", bought.amountIn);
      // Each direction rounds against the trader at every boundary, so a few units may be lost on the way
      // back.
      const lost = BigInt(4 + 4 * bought.crossedTicks) * (1n + (amount >> 80n));
      expect(sold.complete && sold.amountOut + lost >= amount).toBe(true);
    }),
    { numRuns: 300 },
  );
  expect(reached).toBeGreaterThan(50);
});

test("spends the whole input, and a larger one never buys less", () => {
  fc.assert(
    fc.property(aPool, fc.boolean(), anAmount, anAmount, (pool, zeroForOne, amount, more) => {
      const smaller = swapConcentrated(pool, zeroForOne, "exactIn", amount);
      const larger = swapConcentrated(pool, zeroForOne, "exactIn", amount + more);
      expect(larger.amountOut >= smaller.amountOut).toBe(true);
      expect(smaller.amountIn === amount).toBe(smaller.complete);
      expect(smaller.complete || !larger.complete).toBe(true);
      expect(smaller.amountOut <= spotConcentrated(pool, zeroForOne, amount)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test("a sale in two parts equals the sale in one, except for rounding", () => {
  fc.assert(
    fc.property(aPool, fc.boolean(), anAmount, anAmount, (pool, zeroForOne, first, second) => {
      const once = swapConcentrated(pool, zeroForOne, "exactIn", first + second);
      const firstPart = swapConcentrated(pool, zeroForOne, "exactIn", first);
      if (!once.complete || !firstPart.complete) return;
      const moved = { ...pool, ...firstPart, tick: tickAtSqrtRatio(firstPart.sqrtPrice) };
      const secondPart = swapConcentrated(moved, zeroForOne, "exactIn", second);
      expect(secondPart.complete).toBe(true);
      const difference = once.amountOut - firstPart.amountOut - secondPart.amountOut;
      // A part rounds away at most one unit of input, at the highest price of the path.
      const unit = 4n + spotConcentrated(pool, zeroForOne, 4n);
      expect(-unit <= difference && difference <= unit).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test("returns nothing beyond the known ticks, and within them the same result as with all ticks", () => {
  const positions = [
    { from: -6_000, to: 6_000, liquidity: 10n ** 18n },
    { from: -600, to: 600, liquidity: 10n ** 19n },
  ];
  const whole = poolOf(1n << 96n, 60, 3_000n, positions);
  const firstPart = poolOf(1n << 96n, 60, 3_000n, positions, { from: -15_360, to: 0 });
  const near = 10n ** 17n;
  expect(swapConcentrated(firstPart, true, "exactIn", near)).toEqual(
    swapConcentrated(whole, true, "exactIn", near),
  );
  // The next edge above is not known, so even a small rise cannot be predicted.
  expect(swapConcentrated(firstPart, false, "exactIn", near)).toMatchObject({
    complete: false,
    amountOut: 0n,
  });
  expect(swapConcentrated(whole, false, "exactIn", near).complete).toBe(true);
  const huge = 10n ** 30n;
  expect(swapConcentrated(firstPart, true, "exactIn", huge).complete).toBe(false);
  expect(swapConcentrated(whole, true, "exactIn", huge).complete).toBe(false);
  expect(pathInput([{ kind: "concentrated", pool: whole, zeroForOne: true }], huge)).toBeUndefined();
});

test("a price on a tick boundary belongs to the side that the pool reports", () => {
  const positions = [
    { from: -600, to: 0, liquidity: 10n ** 20n },
    { from: 0, to: 600, liquidity: 10n ** 18n },
  ];
  const above = poolOf(1n << 96n, 60, 3_000n, positions);
  const below = { ...above, tick: -1, liquidity: 10n ** 20n };
  expect(above).toMatchObject({ tick: 0, liquidity: 10n ** 18n });
  for (const zeroForOne of [true, false]) {
    const fromAbove = swapConcentrated(above, zeroForOne, "exactIn", 10n ** 15n);
    const fromBelow = swapConcentrated(below, zeroForOne, "exactIn", 10n ** 15n);
    expect(fromBelow.amountOut).toBe(fromAbove.amountOut);
    expect(fromAbove.crossedTicks).toBe(zeroForOne ? 1 : 0);
    expect(fromBelow.crossedTicks).toBe(zeroForOne ? 0 : 1);
  }
});

test("uses the pools' coarser formula for products beyond 256 bits", () => {
  const pool = poolOf(sqrtRatioAtTick(60_000), 60, 3_000n, [
    { from: -887_220, to: 887_220, liquidity: 1n << 80n },
  ]);
  const amount = 1n << 170n;
  const swap = swapConcentrated(pool, true, "exactIn", amount);
  expect(swap.complete).toBe(false);
  expect(swap.amountOut > 0n).toBe(true);
});

const aPair = fc.record({
  reserve0: fc.bigInt({ min: 1n, max: 1n << 100n }),
  reserve1: fc.bigInt({ min: 1n, max: 1n << 100n }),
  feeBps: fc.constantFrom(0n, 25n, 30n, 100n),
});

test("the input that a pair requires buys the output, and the product never decreases", () => {
  fc.assert(
    fc.property(aPair, fc.boolean(), anAmount, (pair, zeroForOne, amount) => {
      const [reserveIn, reserveOut] = zeroForOne
        ? [pair.reserve0, pair.reserve1]
        : [pair.reserve1, pair.reserve0];
      const output = pairOutput(pair, zeroForOne, amount);
      expect((reserveIn + amount) * (reserveOut - output) >= reserveIn * reserveOut).toBe(true);
      expect(output <= spotPair(pair, zeroForOne, amount)).toBe(true);
      const input = pairInput(pair, zeroForOne, amount);
      expect(input === undefined).toBe(amount >= reserveOut);
      if (input !== undefined) expect(pairOutput(pair, zeroForOne, input) >= amount).toBe(true);
    }),
  );
});

test("a pair's amounts match its periphery contract", () => {
  const pair = { reserve0: 5_000_000n, reserve1: 10_000_000n, feeBps: 30n };
  // 1000 * 997 * 10^7 / (5 * 10^6 * 1000 + 1000 * 997) and its inverse.
  expect(pairOutput(pair, true, 1_000n)).toBe(1_993n);
  expect(pairInput(pair, true, 1_993n)).toBe(1_000n);
  expect(pairOutput({ ...pair, reserve0: 0n, reserve1: 0n }, true, 1_000n)).toBe(0n);
});

test("a larger amount never buys less along several pools, and never beats their spot price", () => {
  const aHop: fc.Arbitrary<Hop> = fc.oneof(
    fc.record({ kind: fc.constant("concentrated" as const), pool: aPool, zeroForOne: fc.boolean() }),
    fc.record({ kind: fc.constant("pair" as const), pool: aPair, zeroForOne: fc.boolean() }),
  );
  const aPath = fc.array(aHop, { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(aPath, anAmount, anAmount, (hops, amount, more) => {
      const output = pathOutput(hops, amount);
      expect(pathOutput(hops, amount + more).amountOut >= output.amountOut).toBe(true);
      expect(output.amountOut <= pathSpot(hops, amount)).toBe(true);
      const smallest = pathInput(hops, amount);
      const larger = pathInput(hops, amount + more);
      if (larger !== undefined)
        expect(smallest !== undefined && smallest.amountIn <= larger.amountIn).toBe(true);
    }),
    { numRuns: 300 },
  );
});
