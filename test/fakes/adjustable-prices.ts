import { ServiceError } from "@causeway/domain";
import type { PriceReading } from "@causeway/domain";
import { parseUnits } from "viem";
import type { PriceBook } from "../../apps/api/src/markets/prices/price-source.port.ts";

/** Prices that a test sets. */
export interface AdjustablePrices extends PriceBook {
  /** @param usd decimal text, USD per whole unit; undefined if the price is no longer known */
  set(priceId: string, usd: string | undefined): void;
  /** How reliable a price is; undefined makes it exact, as every price is at first. */
  trust(priceId: string, reading: PriceReading | undefined): void;
}

/** Price readings that must not decide amounts between different assets. */
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
