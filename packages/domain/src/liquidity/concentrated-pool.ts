import { MAX_SQRT_RATIO, MAX_TICK, MIN_SQRT_RATIO, MIN_TICK, cachedSqrtRatio } from "./sqrt-ratio.ts";
import { FEE_UNITS, swapStep } from "./swap-step.ts";

/** A pool of concentrated liquidity at one block; tokens ordered by address, prices in token1 per token0. */
export interface ConcentratedPool {
  /** sqrt of the price, Q64.96. */
  readonly sqrtPrice: bigint;
  /** The current tick as the pool reports it: on a boundary, the side from which the price reached it. */
  readonly tick: number;
  /** Active liquidity at the current price. */
  readonly liquidity: bigint;
  /** Hundredths of a bp of the input, e.g. 3000n. */
  readonly fee: bigint;
  readonly tickSpacing: number;
  readonly ticks: KnownTicks;
}

/** A pool's initialized ticks within a range. */
export interface KnownTicks {
  /**
   * `indexes` contains all initialized ticks from `from` to `to`, both inclusive. Ticks outside are unknown.
   */
  readonly from: number;
  readonly to: number;
  /** Ascending. */
  readonly indexes: readonly number[];
  /** Liquidity gained when the price rises through `indexes[i]`, lost when the price falls through it. */
  readonly net: readonly bigint[];
}

export interface SwapOutcome {
  /** Including the fee. */
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  /** Whether the whole amount was swapped; otherwise the pool or its known ticks ended first. */
  readonly complete: boolean;
  readonly crossedTicks: number;
  /** The pool's price afterwards. */
  readonly sqrtPrice: bigint;
  readonly liquidity: bigint;
}

/**
 * Pools search the next tick one bitmap word at a time, so a step ends at the word's edge even where no
 * liquidity changes.
 */
const TICKS_PER_WORD = 256;

/**
 * Simulates a swap along the known ticks, exact to the base unit like the deployed pools, and stops where
 * they end. Source: Uniswap v3 whitepaper 6.2 and 6.3; `UniswapV3Pool.swap` for where steps end.
 * @param zeroForOne token0 is the input, so the price falls
 * @param amount input including the fee (`exactIn`), or output (`exactOut`)
 */
export function swapConcentrated(
  pool: ConcentratedPool,
  zeroForOne: boolean,
  kind: "exactIn" | "exactOut",
  amount: bigint,
): SwapOutcome {
  const { fee, tickSpacing: spacing, ticks } = pool;
  const { indexes, net } = ticks;
  const exactIn = kind === "exactIn";
  const limit = zeroForOne ? MIN_SQRT_RATIO + 1n : MAX_SQRT_RATIO - 1n;
  let { sqrtPrice: price, liquidity, tick } = pool;
  // The last tick not above the price, or the first one above it.
  let index = zeroForOne ? countUpTo(indexes, tick) - 1 : countUpTo(indexes, tick);
  let remaining = amount;
  let amountIn = 0n;
  let amountOut = 0n;
  let crossedTicks = 0;

  while (remaining > 0n && price !== limit) {
    const edge = zeroForOne ? edgeBelow(tick, spacing) : edgeAbove(tick, spacing);
    const candidate = indexes[index];
    const crosses = candidate !== undefined && (zeroForOne ? candidate >= edge : candidate <= edge);
    const next = crosses ? candidate : Math.max(MIN_TICK, Math.min(MAX_TICK, edge));
    // The edge itself must be known: liquidity may change there.
    if (next < ticks.from || next > ticks.to) break;
    const ratio = cachedSqrtRatio(next);
    const target = (zeroForOne ? ratio < limit : ratio > limit) ? limit : ratio;
    const step = swapStep(price, target, liquidity, remaining, exactIn, fee);
    amountIn += step.amountIn + step.fee;
    amountOut += step.amountOut;
    remaining -= exactIn ? step.amountIn + step.fee : step.amountOut;
    price = step.price;
    if (price !== ratio) continue;
    if (crosses) {
      liquidity += zeroForOne ? -(net[index] as bigint) : (net[index] as bigint);
      index += zeroForOne ? -1 : 1;
      crossedTicks++;
    }
    tick = zeroForOne ? next - 1 : next;
  }
  return {
    amountIn,
    amountOut,
    complete: remaining === 0n,
    crossedTicks,
    sqrtPrice: price,
    liquidity,
  };
}

/** What the input would buy at the pool's price after its fee: an upper bound of any swap. */
export function spotConcentrated(pool: ConcentratedPool, zeroForOne: boolean, amountIn: bigint): bigint {
  const square = pool.sqrtPrice * pool.sqrtPrice;
  const scaledInput = amountIn * (FEE_UNITS - pool.fee);
  return zeroForOne
    ? (scaledInput * square) / (FEE_UNITS << 192n)
    : (scaledInput << 192n) / (FEE_UNITS * square);
}

/** Ticks are counted in spacings, rounded down; words hold 256 of them. */
function wordOf(spacings: number): number {
  return Math.floor(spacings / TICKS_PER_WORD);
}

/** Lowest tick of the word that contains `tick`. */
function edgeBelow(tick: number, spacing: number): number {
  return wordOf(Math.floor(tick / spacing)) * TICKS_PER_WORD * spacing;
}

/** Highest tick of the word that contains the next spacing above `tick`. */
function edgeAbove(tick: number, spacing: number): number {
  return ((wordOf(Math.floor(tick / spacing) + 1) + 1) * TICKS_PER_WORD - 1) * spacing;
}

/** How many of the ascending numbers are at most `bound`. */
function countUpTo(sorted: readonly number[], bound: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) <= bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
