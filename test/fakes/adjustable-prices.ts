import { ServiceError } from "@causeway/domain";
import type { PriceReading } from "@causeway/domain";
import { parseUnits } from "viem";
import type { PriceBook } from "../../apps/api/src/markets/prices/price-source.port.ts";

/** A price book whose prices a test sets. */
export interface AdjustablePrices extends PriceBook {
  /** @param usd the price of a whole unit in USD, as decimal text; undefined if the price becomes unknown */
  set(priceId: string, usd: string | undefined): void;
  /** Sets how reliable a price is. Initially, and with undefined, a price is exact. */
  trust(priceId: string, reading: PriceReading | undefined): void;
}

/** Readings of prices too unreliable for swaps between different assets. */
export const unreliable: Readonly<Record<"disputed" | "too old", PriceReading>> = {
  disputed: { ageMs: 0, volatilityBps: 0, disputedBy: "pool" },
  "too old": { ageMs: 600_000, volatilityBps: 0 },
};

export function adjustablePrices(usdByPriceId: Readonly<Record<string, string>>): AdjustablePrices {
  const prices = new Map<string, bigint>();
  const last = new Map<string, bigint>();
  const set = (priceId: string, usd: string | undefined): void => {
    if (usd === undefined) prices.delete(priceId);
    else {
      prices.set(priceId, parseUnits(usd, 18));
      last.set(priceId, parseUnits(usd, 18));
    }
  };
  const readings = new Map<string, PriceReading>();
  for (const [priceId, usd] of Object.entries(usdByPriceId)) set(priceId, usd);
  return {
    set,
    trust: (priceId, reading) => {
      if (reading === undefined) readings.delete(priceId);
      else readings.set(priceId, reading);
    },
    reading: ({ priceId }) => readings.get(priceId),
    lastUsd: ({ priceId }) => last.get(priceId),
    usd: ({ priceId }) => {
      const usd = prices.get(priceId);
      if (usd === undefined) throw new ServiceError("PRICE_FETCH_FAILED", `no price of ${priceId}`);
      return usd;
    },
  };
}
