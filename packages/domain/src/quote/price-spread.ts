import type { Currency, CurrencyClass } from "../chain/chain.ts";
import { isOneAsset, pairClassOf } from "./fee-policy.ts";

/** The facts that decide how far a price can be trusted now. */
export interface PriceReading {
  /** How old the price is by its source's timestamp. */
  readonly ageMs: number;
  /** Standard deviation of the price over one minute, bps, measured from recent readings. */
  readonly volatilityBps: number;
  /** The second source or pool that contradicts the price, if any. */
  readonly disputedBy?: "second source" | "pool";
}

/** Why a price must not be used to convert between assets. */
export type PriceDoubt =
  | { readonly kind: "disputed"; readonly priceId: string; readonly by: string }
  | { readonly kind: "tooOld"; readonly priceId: string; readonly ageMs: number }
  | { readonly kind: "tooVolatile"; readonly priceId: string; readonly spreadBps: number };

/** The spread that a pair pays for the age of its prices, or why the pair cannot be priced now. */
export type PairSpread = { readonly kind: "spread"; readonly bps: number } | PriceDoubt;

/**
 * Minimum assumed standard deviation over one minute, bps: a calm minute does not predict the next one. 60 %
 * per year is 8 bps per minute.
 */
const MIN_VOLATILITY_BPS: Readonly<Record<CurrencyClass, number>> = { stable: 0, major: 8, minor: 15 };

/** A pair with a wider spread cannot be priced. */
const MAX_SPREAD_BPS = 1_000;

/** How many standard deviations of the price move the spread covers. */
const DEVIATIONS = 2;

/**
 * Why a price cannot be trusted; undefined if it can.
 * @param maxVolatileAgeMs maximum price age of a currency that is not a stablecoin
 */
export function priceDoubt(
  { priceId, class: currencyClass }: Pick<Currency, "priceId" | "class">,
  { ageMs, disputedBy }: PriceReading,
  maxVolatileAgeMs: number,
): PriceDoubt | undefined {
  if (disputedBy !== undefined) return { kind: "disputed", priceId, by: disputedBy };
  if (currencyClass !== "stable" && ageMs > maxVolatileAgeMs) return { kind: "tooOld", priceId, ageMs };
  return undefined;
}

/**
 * Spread for the age of two prices, bps: `2 × volatility × sqrt(age in minutes)` of each asset (a random
 * walk), summed. Without it, anyone who sees the market before the price source would hold a free option. One
 * asset on two chains needs none: its price cancels out.
 * @param maxVolatileAgeMs see {@link priceDoubt}
 */
export function pairSpread(
  sides: readonly {
    readonly currency: Pick<Currency, "id" | "priceId" | "class">;
    readonly reading: PriceReading;
  }[],
  maxVolatileAgeMs: number,
): PairSpread {
  const [first, second] = sides;
  if (first === undefined || second === undefined) return { kind: "spread", bps: 0 };
  if (isOneAsset(pairClassOf(first.currency, second.currency))) return { kind: "spread", bps: 0 };
  let bps = 0;
  let [widest, widestBps] = [first.currency.priceId, 0];
  for (const { currency, reading } of sides) {
    const doubt = priceDoubt(currency, reading, maxVolatileAgeMs);
    if (doubt !== undefined) return doubt;
    const volatilityBps = Math.max(MIN_VOLATILITY_BPS[currency.class], reading.volatilityBps);
    const assetBps = DEVIATIONS * volatilityBps * Math.sqrt(Math.max(0, reading.ageMs) / 60_000);
    bps += assetBps;
    if (assetBps > widestBps) [widest, widestBps] = [currency.priceId, assetBps];
  }
  const spreadBps = Math.ceil(bps);
  if (spreadBps > MAX_SPREAD_BPS) return { kind: "tooVolatile", priceId: widest, spreadBps };
  return { kind: "spread", bps: spreadBps };
}
