import type { Currency } from "@causeway/domain";
import type { Clock } from "../../db/clock.port.ts";
import type { PoolUsd } from "../liquidity/liquidity.port.ts";
import type { PriceBook } from "./price-source.port.ts";
import { diverges } from "./confirmed-prices.adapter.ts";

/** How long a reading of the pools is reused for quotes, ms. */
const KEPT_MS = 500;
/** Shallower pools are too cheap to move to veto a price, USD with 18 decimals. */
const MIN_DEPTH_USD = 250_000n * 10n ** 18n;

/**
 * A price book whose prices deep pools can veto: where the pools of a currency's chain contradict the price,
 * its reading says so. Moving a pool can stop quotes between different assets, but never choose their price.
 */
export function vetoedByPools(
  book: Required<PriceBook>,
  poolUsd: PoolUsd,
  maxDivergenceBps: (currency: Currency) => number,
  clock: Clock,
): Required<PriceBook> {
  const kept = new WeakMap<Currency, { readonly atMs: number; readonly isDisputed: boolean }>();
  function isDisputed(currency: Currency): boolean {
    const nowMs = clock.nowMs();
    const before = kept.get(currency);
    if (before !== undefined && Math.abs(nowMs - before.atMs) < KEPT_MS) return before.isDisputed;
    const usd = book.usd(currency);
    const pool = poolUsd(currency, MIN_DEPTH_USD);
    const found =
      typeof usd === "bigint" && pool !== undefined && diverges(usd, pool, maxDivergenceBps(currency));
    kept.set(currency, { atMs: nowMs, isDisputed: found });
    return found;
  }
  return {
    usd: (currency) => book.usd(currency),
    lastUsd: (currency) => book.lastUsd(currency),
    reading: (currency) => {
      const reading = book.reading(currency);
      if (reading === undefined || reading.disputedBy !== undefined) return reading;
      return isDisputed(currency) ? { ...reading, disputedBy: "pool" } : reading;
    },
  };
}
