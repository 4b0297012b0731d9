import type { PriceSource, UsdPrice } from "./price-source.port.ts";
import { fieldsOf, readPriceJson } from "./http-json.adapter.ts";
import type { PriceEndpoint } from "./http-json.adapter.ts";
import { groupIds, priceEntry } from "./price-entry.adapter.ts";

/**
 * Prices of any service with the interface `GET
 * /simple/price?ids=a,b&vs_currencies=usd&include_last_updated_at=true`, which answers `{ "a": { "usd": 1.5,
 * "last_updated_at": <Unix seconds> } }`. Price ids are the service's own ids.
 */
export function createCoingeckoCompatiblePrices(endpoint: PriceEndpoint): PriceSource {
  return {
    name: "coingecko",
    fetch: async (priceIds, signal) => {
      const prices = new Map<string, UsdPrice>();
      const answers = await Promise.all(
        groupIds(priceIds).map(async (ids) => {
          const query = `ids=${ids.map(encodeURIComponent).join(",")}&vs_currencies=usd&include_last_updated_at=true&precision=full`;
          return fieldsOf(await readPriceJson(endpoint, `/simple/price?${query}`, signal));
        }),
      );
      for (const answer of answers)
        for (const id of priceIds) {
          const fields = fieldsOf(answer.get(id));
          const price = priceEntry(fields.get("usd"), fields.get("last_updated_at"));
          if (price !== undefined) prices.set(id, price);
        }
      return prices;
    },
  };
}
