import type { Currency } from "@causeway/domain";
import type { Clock } from "../../db/clock.port.ts";
import type { PoolUsd } from "../liquidity/liquidity.port.ts";
import type { PriceBook } from "./price-source.port.ts";
import { diverges } from "./confirmed-prices.adapter.ts";

/** How long a comparison with the pools is reused, ms. */
const CACHED_MS = 500;
/** Shallower pools have no veto, because they are too cheap to move; USD with 18 decimals. */
const MIN_DEPTH_USD = 250_000n * 10n ** 18n;

/**
 * A price book whose prices deep pools can veto: if the pools of a currency's chain contradict its price, its
 * reading is disputed. An attacker that moves a pool can stop quotes between different assets, but cannot
 * choose their price.
 */
export function withPoolVeto(
  book: Required<PriceBook>,
  poolUsd: PoolUsd,
  maxDivergenceBps: (currency: Currency) => number,
  clock: Clock,
): Required<PriceBook> {
  const cached = new WeakMap<Currency, { readonly atMs: number; readonly isDisputed: boolean }>();
  function isDisputed(currency: Currency): boolean {
    const nowMs = clock.nowMs();
    const latest = cached.get(currency);
    if (latest !== undefined && Math.abs(nowMs - latest.atMs) < CACHED_MS) return latest.isDisputed;
    const usd = book.usd(currency);
    const pool = poolUsd(currency, MIN_DEPTH_USD);
    const isContradicted =
      typeof usd === "bigint" && pool !== undefined && diverges(usd, pool, maxDivergenceBps(currency));
    cached.set(currency, { atMs: nowMs, isDisputed: isContradicted });
    return isContradicted;
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
