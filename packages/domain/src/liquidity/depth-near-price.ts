import type { ConcentratedPool } from "./concentrated-pool.ts";
import { amount0Between, amount1Between } from "./price-moves.ts";
import { MAX_TICK, MIN_TICK, rememberedSqrtRatio } from "./sqrt-ratio.ts";

/** About 2 % of the price to either side. */
const NEAR_TICKS = 200;
/** A constant-product pair gives 1 - 1.0001^(-100) of a reserve while its price moves this far. */
const PARTS_OF_RESERVE = 100n;

/**
 * The reserve of an equivalent constant-product pair, which gives as much of a token as this pool before its
 * price has moved by 2 %, in base units. Liquidity at the price is misleading: a one-tick position shows
 * thousands of times its funds. Only known ticks count.
 */
export function depthNearPrice(pool: ConcentratedPool, token: "token0" | "token1"): bigint {
  const { sqrtPrice, tick, ticks } = pool;
  const rises = token === "token0";
  const end = rises
    ? Math.min(tick + NEAR_TICKS, ticks.to, MAX_TICK)
    : Math.max(tick - NEAR_TICKS, ticks.from, MIN_TICK);
  let { liquidity } = pool;
  let price = sqrtPrice;
  let held = 0n;
  const moveTo = (next: bigint): void => {
    if (rises && next > price) held += amount0Between(price, next, liquidity, false);
    if (!rises && next < price) held += amount1Between(next, price, liquidity, false);
    price = next;
  };
  const met = ticks.at.flatMap((at, index) =>
    (rises ? at > tick && at <= end : at <= tick && at >= end) ? [{ at, net: ticks.net[index] ?? 0n }] : [],
  );
  for (const { at, net } of rises ? met : met.toReversed()) {
    moveTo(rememberedSqrtRatio(at));
    liquidity += rises ? net : -net;
  }
  moveTo(rememberedSqrtRatio(end));
  return held * PARTS_OF_RESERVE;
}
