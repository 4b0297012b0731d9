import type { Secret, SettingValues } from "@causeway/config";
import { setting } from "@causeway/config";

const { choice, integer, secret, url } = setting;

const SOURCES = ["coingecko", "defillama"] as const;
const HTTP = ["http", "https"];

const millis = (name: string, defaultMs: number, describe: string) =>
  integer({ name, min: 1, max: 86_400_000, default: defaultMs, describe });

export const priceSettings = {
  priceSource: choice({
    name: "PRICE_SOURCE",
    values: ["fixed", ...SOURCES],
    default: "defillama",
    describe:
      "`fixed`: prices from `prices.<ENVIRONMENT>.json`. Otherwise: prices from CoinGecko, DefiLlama or a service with the same HTTP API.",
  }),
  priceUrl: url({
    name: "PRICE_URL",
    schemes: HTTP,
    optional: true,
    describe: "Base URL of the price source. Default: the public URL of CoinGecko or DefiLlama.",
  }),
  priceApiKey: secret({
    name: "PRICE_API_KEY",
    optional: true,
    describe: "API key for the price source, if it requires one.",
  }),
  priceRefreshMs: millis(
    "PRICE_REFRESH_MS",
    10_000,
    "A price older than this is still used, and refreshed in the background. A price older than three times this is refreshed before it is used.",
  ),
  priceMaxAgeMs: millis(
    "PRICE_MAX_AGE_MS",
    300_000,
    "Maximum age of a price. If no source has a younger price of a currency, its quotes return 503 `PRICE_FETCH_FAILED`.",
  ),
  priceVolatileMaxAgeMs: millis(
    "PRICE_VOLATILE_MAX_AGE_MS",
    90_000,
    "Like `PRICE_MAX_AGE_MS`, for currencies other than stablecoins in quotes between different assets. The age is measured from the timestamp that the source gives. The quoted spread grows with the age, so a fresher source gives better quotes.",
  ),
  priceSecondSource: choice({
    name: "PRICE_SECOND_SOURCE",
    values: ["none", ...SOURCES],
    default: "none",
    describe:
      "Second source that must confirm each price within 0.5 % (stablecoins) or 1.5 % (others). An unconfirmed price is not used between different assets, even if the second source is down.",
  }),
  priceSecondUrl: url({
    name: "PRICE_SECOND_URL",
    schemes: HTTP,
    optional: true,
    describe: "Base URL of the second source. Default: the public URL of CoinGecko or DefiLlama.",
  }),
  priceSecondApiKey: secret({
    name: "PRICE_SECOND_API_KEY",
    optional: true,
    describe: "API key for the second source, if it requires one.",
  }),
};

export const fixedPricePolicy = {
  /** Timeout of one request to a price source. */
  timeoutMs: 3_000,
};

const publicUrls = {
  coingecko: "https://api.coingecko.com/api/v3",
  defillama: "https://coins.llama.fi",
} as const;

/** Where prices come from. */
export type PriceConfig = {
  readonly refreshMs: number;
  readonly maxAgeMs: number;
  readonly timeoutMs: number;
} & (
  | {
      readonly source: "fixed";
      /** USD with 18 decimals, by price id. */
      readonly usd: ReadonlyMap<string, bigint>;
    }
  | (PriceEndpointConfig & {
      /** Must confirm each price; undefined: prices need no confirmation. */
      readonly second: PriceEndpointConfig | undefined;
    })
);

/** A price service with an HTTP API. */
export interface PriceEndpointConfig {
  readonly source: (typeof SOURCES)[number];
  readonly url: string;
  readonly apiKey: Secret | undefined;
}

/**
 * @param fixed undefined if the price file is invalid or not needed
 * @returns undefined if the price file is needed and invalid
 */
export function priceConfig(
  price: SettingValues<typeof priceSettings>,
  fixed: ReadonlyMap<string, bigint> | undefined,
): PriceConfig | undefined {
  const bounds = { refreshMs: price.priceRefreshMs, maxAgeMs: price.priceMaxAgeMs, ...fixedPricePolicy };
  if (price.priceSource === "fixed") return fixed && { ...bounds, source: "fixed", usd: fixed };
  const { priceSecondSource: second } = price;
  return {
    ...bounds,
    ...endpoint(price.priceSource, price.priceUrl, price.priceApiKey),
    second: second === "none" ? undefined : endpoint(second, price.priceSecondUrl, price.priceSecondApiKey),
  };
}

function endpoint(
  source: PriceEndpointConfig["source"],
  url: string | undefined,
  apiKey: Secret | undefined,
): PriceEndpointConfig {
  return { source, url: url ?? publicUrls[source], apiKey };
}

export function priceProblems({
  priceMaxAgeMs: maxAgeMs,
  priceRefreshMs: refreshMs,
}: Partial<SettingValues<typeof priceSettings>>): readonly string[] {
  return maxAgeMs !== undefined && refreshMs !== undefined && maxAgeMs < refreshMs
    ? ["PRICE_MAX_AGE_MS must be at least PRICE_REFRESH_MS"]
    : [];
}
