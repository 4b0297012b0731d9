import type { ConcentratedPool } from "./concentrated-pool.ts";
import { amount0Between, amount1Between } from "./price-moves.ts";
import { MAX_TICK, MIN_TICK, cachedSqrtRatio } from "./sqrt-ratio.ts";

/** About 2 % of the price to either side. */
const NEAR_TICKS = 200;
/** A constant-product pair pays out 1 - 1.0001^(-100) of a reserve (1/100) while its price moves by 2 %. */
const PARTS_OF_RESERVE = 100n;

/**
 * The reserve, in base units, of a constant-product pair that would pay out as much of `token` as this pool
 * before the price moves by 2 %. Liquidity at the current price alone is misleading: a one-tick position
 * shows thousands of times its funds. Only known ticks count.
 */
export function depthNearPrice(pool: ConcentratedPool, token: "token0" | "token1"): bigint {
  const { sqrtPrice, tick, ticks } = pool;
  const isRising = token === "token0";
  const end = isRising
    ? Math.min(tick + NEAR_TICKS, ticks.to, MAX_TICK)
    : Math.max(tick - NEAR_TICKS, ticks.from, MIN_TICK);
  let { liquidity } = pool;
  let price = sqrtPrice;
  let depth = 0n;
  const moveTo = (next: bigint): void => {
    if (isRising && next > price) depth += amount0Between(price, next, liquidity, false);
    if (!isRising && next < price) depth += amount1Between(next, price, liquidity, false);
    price = next;
  };
  const crossed = ticks.indexes.flatMap((tickIndex, index) =>
    (isRising ? tickIndex > tick && tickIndex <= end : tickIndex <= tick && tickIndex >= end)
      ? [{ tick: tickIndex, net: ticks.net[index] ?? 0n }]
      : [],
  );
  for (const { tick: crossedTick, net } of isRising ? crossed : crossed.toReversed()) {
    moveTo(cachedSqrtRatio(crossedTick));
    liquidity += isRising ? net : -net;
  }
  moveTo(cachedSqrtRatio(end));
  return depth * PARTS_OF_RESERVE;
}
