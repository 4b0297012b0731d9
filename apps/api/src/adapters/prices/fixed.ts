import type { PriceSource } from "../../ports/price-source.ts";

/** Prices from configuration, USD with 18 decimals by price id; true at every moment. For local systems and tests. */
export function createFixedPrices(prices: ReadonlyMap<string, bigint>): PriceSource {
  const all = new Map([...prices].map(([id, usd]) => [id, { usd, asOfMs: Number.POSITIVE_INFINITY }]));
  return { name: "fixed", fetch: async () => all };
}
