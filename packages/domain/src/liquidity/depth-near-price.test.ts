import { expect, test } from "vitest";
import type { ConcentratedPool } from "./concentrated-pool.ts";
import { depthNearPrice } from "./depth-near-price.ts";
import { sqrtRatioAtTick } from "./sqrt-ratio.ts";

/** A pool at price 1 with positions, each of this much liquidity between two ticks. */
function aPool(...positions: readonly (readonly [lower: number, upper: number, liquidity: bigint])[]) {
  const net = new Map<number, bigint>();
  for (const [lower, upper, liquidity] of positions) {
    net.set(lower, (net.get(lower) ?? 0n) + liquidity);
    net.set(upper, (net.get(upper) ?? 0n) - liquidity);
  }
  const sorted = [...net].sort(([firstTick], [secondTick]) => firstTick - secondTick);
  return {
    sqrtPrice: sqrtRatioAtTick(0),
    tick: 0,
    liquidity: positions.reduce(
      (sum, [lower, upper, positionLiquidity]) => (lower <= 0 && 0 < upper ? sum + positionLiquidity : sum),
      0n,
    ),
    fee: 500n,
    tickSpacing: 10,
    ticks: {
      from: -10_000,
      to: 10_000,
      indexes: sorted.map(([at]) => at),
      net: sorted.map(([, change]) => change),
    },
  } satisfies ConcentratedPool;
}

const L = 10n ** 24n;
const share = (part: bigint, whole: bigint): number => Number((part * 1_000n) / whole) / 1_000;

test("liquidity over all prices has the depth of a pair with the same reserves", () => {
  const pool = aPool([-9_000, 9_000, L]);
  // At price 1 both reserves of such a pair are L.
  for (const token of ["token0", "token1"] as const)
    expect(share(depthNearPrice(pool, token), L)).toBeCloseTo(1, 1);
});

test("a position that is one step wide has the depth of its funds, not of its liquidity", () => {
  const pool = aPool([-10, 10, L]);
  for (const token of ["token0", "token1"] as const)
    expect(share(depthNearPrice(pool, token), L)).toBeCloseTo(0.05, 2);
});

test("ignores funds far from the price and unknown ticks", () => {
  const far = aPool([300, 400, L], [-400, -300, L]);
  expect([depthNearPrice(far, "token0"), depthNearPrice(far, "token1")]).toEqual([0n, 0n]);
  const whole = aPool([-9_000, 9_000, L]);
  const partlyKnown = { ...whole, ticks: { from: -10, to: 10, indexes: [], net: [] } };
  expect(share(depthNearPrice(partlyKnown, "token0"), L)).toBeCloseTo(0.05, 2);
});

test("measures each side separately", () => {
  const pool = aPool([-10, 200, L]);
  expect(share(depthNearPrice(pool, "token0"), L)).toBeCloseTo(1, 1);
  expect(share(depthNearPrice(pool, "token1"), L)).toBeCloseTo(0.05, 2);
});
