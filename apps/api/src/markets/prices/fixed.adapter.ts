import type { Clock } from "../../db/clock.port.ts";
import type { PriceSource, UsdPrice } from "./price-source.port.ts";

/**
 * Configured prices, which are always current: USD with 18 decimals by price id. For local systems and tests.
 */
export function createFixedPrices(prices: ReadonlyMap<string, bigint>, clock: Clock): PriceSource {
  return {
    name: "fixed",
    isFixed: true,
    fetch: async (priceIds) => {
      const asOfMs = clock.nowMs();
      const fetched = new Map<string, UsdPrice>();
      for (const id of priceIds) {
        const usd = prices.get(id);
        if (usd !== undefined) fetched.set(id, { usd, asOfMs });
      }
      return fetched;
    },
  };
}
