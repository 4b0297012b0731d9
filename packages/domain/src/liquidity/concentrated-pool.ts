import { MAX_SQRT_RATIO, MAX_TICK, MIN_SQRT_RATIO, MIN_TICK, rememberedSqrtRatio } from "./sqrt-ratio.ts";
import { FEE_UNITS, swapStep } from "./swap-step.ts";

/**
 * What is known of a pool of concentrated liquidity at one block; tokens ordered by address, prices token1
 * per token0.
 */
export interface ConcentratedPool {
  /** sqrt of the price, Q64.96. */
  readonly sqrtPrice: bigint;
  /** As the pool says it: at a boundary it tells the side that the price came from. */
  readonly tick: number;
  /** In range at the price. */
  readonly liquidity: bigint;
  /** Hundredths of a bp of the input, e.g. 3000n. */
  readonly fee: bigint;
  readonly tickSpacing: number;
  readonly ticks: KnownTicks;
}

/** Ticks of a pool where liquidity begins or ends, for a stretch of its ticks. */
export interface KnownTicks {
  /** Every such tick from here to `to`, both inclusive, is in `at`; outside of it nothing is known. */
  readonly from: number;
  readonly to: number;
  /** Ascending. */
  readonly at: readonly number[];
  /** Liquidity gained when the price rises through the tick, lost when it falls; by the index of `at`. */
  readonly net: readonly bigint[];
}

export interface SwapOutcome {
  /** With the fee. */
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  /** All of the asked amount; otherwise the pool, or what is known of it, ended before. */
  readonly complete: boolean;
  readonly crossedTicks: number;
  /** The pool after it. */
  readonly sqrtPrice: bigint;
  readonly liquidity: bigint;
}

/**
 * Pools look for the next tick in one word of their bitmap at a time, so a step ends at its edge even where
 * no liquidity changes.
 */
const TICKS_PER_WORD = 256;

/**
 * Exchanges along the known ticks, to the unit as the deployed pools do, and stops where they end: what lies
 * beyond is not guessed. Source: Uniswap v3 whitepaper 6.2 and 6.3, `UniswapV3Pool.swap` for where steps end.
 * Pure.
 *
 * @param zeroForOne token0 goes in, the price falls
 * @param amount input with its fee, or output
 */
export function swapConcentrated(
  pool: ConcentratedPool,
  zeroForOne: boolean,
  kind: "exactIn" | "exactOut",
  amount: bigint,
): SwapOutcome {
  const { fee, tickSpacing: spacing, ticks } = pool;
  const { at, net } = ticks;
  const exactIn = kind === "exactIn";
  const limit = zeroForOne ? MIN_SQRT_RATIO + 1n : MAX_SQRT_RATIO - 1n;
  let { sqrtPrice: price, liquidity, tick } = pool;
  // Of the ticks not above the price the last, or of those above it the first.
  let index = zeroForOne ? countUpTo(at, tick) - 1 : countUpTo(at, tick);
  let remaining = amount;
  let amountIn = 0n;
  let amountOut = 0n;
  let crossedTicks = 0;

  while (remaining > 0n && price !== limit) {
    const edge = zeroForOne ? edgeBelow(tick, spacing) : edgeAbove(tick, spacing);
    const candidate = at[index];
    const crosses = candidate !== undefined && (zeroForOne ? candidate >= edge : candidate <= edge);
    const next = crosses ? candidate : Math.max(MIN_TICK, Math.min(MAX_TICK, edge));
    // The edge itself is one of the ticks that must be known: liquidity may change there.
    if (next < ticks.from || next > ticks.to) break;
    const ratio = rememberedSqrtRatio(next);
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

/** What the input would buy at the pool's price, its fee taken: no exchange gets more. */
export function spotConcentrated(pool: ConcentratedPool, zeroForOne: boolean, amountIn: bigint): bigint {
  const square = pool.sqrtPrice * pool.sqrtPrice;
  const paid = amountIn * (FEE_UNITS - pool.fee);
  return zeroForOne ? (paid * square) / (FEE_UNITS << 192n) : (paid << 192n) / (FEE_UNITS * square);
}

/** Ticks are counted in spacings, rounded towards the lower one; words hold 256 of them. */
function wordOf(spacings: number): number {
  return Math.floor(spacings / TICKS_PER_WORD);
}

/** Lowest tick of the word that `tick` lies in. */
function edgeBelow(tick: number, spacing: number): number {
  return wordOf(Math.floor(tick / spacing)) * TICKS_PER_WORD * spacing;
}

/** Highest tick of the word that the next spacing above `tick` lies in. */
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
