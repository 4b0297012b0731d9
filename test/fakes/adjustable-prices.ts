import { ServiceError } from "@causeway/domain";
import { parseUnits } from "viem";
import type { PriceBook } from "../../apps/api/src/ports/price-source.ts";

/** Prices that a test moves. */
export interface AdjustablePrices extends PriceBook {
  /** @param usd decimal text, USD per whole unit; undefined = nobody knows the price any more */
  set(priceId: string, usd: string | undefined): void;
}

export function adjustablePrices(usdByPriceId: Readonly<Record<string, string>>): AdjustablePrices {
  const prices = new Map<string, bigint>();
  const set = (priceId: string, usd: string | undefined): void => {
    if (usd === undefined) prices.delete(priceId);
    else prices.set(priceId, parseUnits(usd, 18));
  };
  for (const [priceId, usd] of Object.entries(usdByPriceId)) set(priceId, usd);
  return {
    set,
    usd: ({ priceId }) => {
      const usd = prices.get(priceId);
      if (usd === undefined) throw new ServiceError("PRICE_FETCH_FAILED", `no price of ${priceId}`);
      return usd;
    },
  };
}
