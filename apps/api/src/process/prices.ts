import type { CurrencyClass } from "@causeway/domain";
import { createCoingeckoCompatiblePrices } from "../markets/prices/coingecko-compatible.adapter.ts";
import { createConfirmedPrices } from "../markets/prices/confirmed-prices.adapter.ts";
import { createDefillamaCompatiblePrices } from "../markets/prices/defillama-compatible.adapter.ts";
import { createFixedPrices } from "../markets/prices/fixed.adapter.ts";
import type { ApiConfig, PriceEndpointConfig } from "../config/config.ts";
import type { PriceSource } from "../markets/prices/price-source.port.ts";
import type { Services } from "../db/services.port.ts";

/**
 * How far a second source or a deep pool may be from a price, bps: further, and the price is not used between
 * different assets.
 */
export const MAX_DIVERGENCE_BPS: Readonly<Record<CurrencyClass, number>> = {
  stable: 50,
  major: 150,
  minor: 150,
};

/** The configured source of prices. */
export function priceSource(
  { prices: config, chains, rails }: Pick<ApiConfig, "prices" | "chains" | "rails">,
  clock: Services["clock"],
  onFault: (error: unknown) => void,
): PriceSource {
  if (config.source === "fixed") return createFixedPrices(config.usd, clock);
  const primary = httpPrices(config, config.timeoutMs);
  if (config.second === undefined) return primary;
  const bounds = new Map<string, number>();
  for (const { native, tokens } of [...chains, ...rails.map(({ chain }) => chain)])
    for (const { priceId, class: kind } of [native, ...tokens])
      bounds.set(priceId, Math.min(bounds.get(priceId) ?? Infinity, MAX_DIVERGENCE_BPS[kind]));
  const second = httpPrices(config.second, config.timeoutMs);
  return createConfirmedPrices(
    primary,
    second,
    (id) => bounds.get(id) ?? MAX_DIVERGENCE_BPS.stable,
    config.maxAgeMs,
    onFault,
  );
}

function httpPrices({ source, url, apiKey }: PriceEndpointConfig, timeoutMs: number): PriceSource {
  const endpoint = {
    baseUrl: url,
    timeoutMs,
    ...(apiKey && { keyHeader: { name: priceKeyHeader(url), value: apiKey.reveal() } }),
  };
  return source === "coingecko"
    ? createCoingeckoCompatiblePrices(endpoint)
    : createDefillamaCompatiblePrices(endpoint);
}

/** The public CoinGecko hosts want paid and free keys under two names; compatible services know the first. */
function priceKeyHeader(url: string): string {
  return new URL(url).hostname === "api.coingecko.com" ? "x-cg-demo-api-key" : "x-cg-pro-api-key";
}
