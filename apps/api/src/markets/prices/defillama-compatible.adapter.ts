import { parseDecimal } from "@causeway/domain";
import type { PriceSource, UsdPrice } from "./price-source.port.ts";
import { fieldsOf, readPriceJson } from "./http-json.adapter.ts";
import type { PriceEndpoint } from "./http-json.adapter.ts";
import { groupIds, priceEntry } from "./price-entry.adapter.ts";

/** Prices with a lower confidence are not used. The service reports confidence as a number from 0 to 1. */
const MIN_CONFIDENCE_PERCENT = 90n;

/**
 * Prices of any service with the interface `GET /prices/current/coingecko:a,coingecko:b`, which answers `{
 * "coins": { "coingecko:a": { "price": 1.5, "timestamp": <Unix seconds>, "confidence": 0.99 } } }`. Price ids
 * are CoinGecko's ids.
 */
export function createDefillamaCompatiblePrices(endpoint: PriceEndpoint): PriceSource {
  return {
    name: "defillama",
    fetch: async (priceIds, signal) => {
      const prices = new Map<string, UsdPrice>();
      const answers = await Promise.all(
        groupIds(priceIds).map(async (ids) => {
          const list = ids.map((id) => `coingecko:${encodeURIComponent(id)}`).join(",");
          return fieldsOf(
            fieldsOf(await readPriceJson(endpoint, `/prices/current/${list}`, signal)).get("coins"),
          );
        }),
      );
      for (const entries of answers)
        for (const id of priceIds) {
          const fields = fieldsOf(entries.get(`coingecko:${id}`));
          const price = priceEntry(fields.get("price"), fields.get("timestamp"));
          if (price !== undefined && isConfident(fields.get("confidence"))) prices.set(id, price);
        }
      return prices;
    },
  };
}

/** A price without a confidence is accepted. */
function isConfident(confidence: unknown): boolean {
  const percent = typeof confidence === "string" ? parseDecimal(confidence, 2) : undefined;
  return percent === undefined || percent >= MIN_CONFIDENCE_PERCENT;
}
