import type { PriceSource } from "../../ports/price-source.ts";
import { createCoingeckoCompatiblePrices } from "./coingecko-compatible.ts";
import { createDefillamaCompatiblePrices } from "./defillama-compatible.ts";
import { createFixedPrices } from "./fixed.ts";

/** Which source, as configured. */
export type PriceSourceChoice =
  | { readonly source: "fixed"; readonly usd: ReadonlyMap<string, bigint> }
  | {
      readonly source: "coingecko" | "defillama";
      readonly url: string;
      readonly apiKey: { reveal(): string } | undefined;
      readonly timeoutMs: number;
    };

/** The chosen source. */
export function priceSourceOf(choice: PriceSourceChoice): PriceSource {
  if (choice.source === "fixed") return createFixedPrices(choice.usd);
  const { source, url: baseUrl, apiKey, timeoutMs } = choice;
  const keyHeader =
    apiKey === undefined ? undefined : { name: keyHeaderOf(source, baseUrl), value: apiKey.reveal() };
  const endpoint = { baseUrl, keyHeader, timeoutMs };
  return source === "coingecko"
    ? createCoingeckoCompatiblePrices(endpoint)
    : createDefillamaCompatiblePrices(endpoint);
}

/** CoinGecko takes paid keys and free ones in two headers, at two hosts. */
function keyHeaderOf(source: "coingecko" | "defillama", baseUrl: string): string {
  if (source === "defillama") return "x-api-key";
  return new URL(baseUrl).hostname.startsWith("pro-") ? "x-cg-pro-api-key" : "x-cg-demo-api-key";
}
