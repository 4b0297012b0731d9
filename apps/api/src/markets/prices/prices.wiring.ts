import type { Lifecycle } from "@causeway/service-kit";
import type { ApiConfig, PriceEndpointConfig } from "../../config/config.ts";
import type { Clock } from "../../db/clock.port.ts";
import type { Services } from "../../db/services.port.ts";
import type { PoolUsd } from "../liquidity/liquidity.port.ts";
import { createCoingeckoCompatiblePrices } from "./coingecko-compatible.adapter.ts";
import { createConfirmedPrices } from "./confirmed-prices.adapter.ts";
import { createDefillamaCompatiblePrices } from "./defillama-compatible.adapter.ts";
import { createFixedPrices } from "./fixed.adapter.ts";
import { withPoolVeto } from "./pool-veto.adapter.ts";
import { createPriceBook, type OwnedPriceBook } from "./price-book.adapter.ts";
import { MAX_DIVERGENCE_BPS } from "./price-divergence.ts";
import type { PriceSource } from "./price-source.port.ts";

const RETRY_MS = 1_000;

type PricedConfig = Pick<ApiConfig, "prices" | "chains" | "nonEvmChains">;

/**
 * The price book of all configured currencies, after its first fetch. If the fetch fails, the process starts
 * without prices: it cannot quote, but requests in progress can still be refunded and reported.
 */
export async function startPriceBook({
  config,
  clock,
  events,
  lifecycle,
}: Pick<Services, "clock" | "events"> & {
  readonly config: PricedConfig;
  readonly lifecycle: Lifecycle;
}): Promise<OwnedPriceBook> {
  const onFault = (error: unknown): void => events.fault("price_fault", error, {});
  const book = createPriceBook({
    source: priceSource(config, clock, onFault),
    clock,
    priceIds: [...new Set(currenciesOf(config).map(({ priceId }) => priceId))],
    refreshMs: config.prices.refreshMs,
    maxAgeMs: config.prices.maxAgeMs,
    retryMs: RETRY_MS,
    onFault,
  });
  lifecycle.add("prices", () => book.close());
  await book.refresh().catch((error: unknown) => events.fault("price_fault", error, { at: "start" }));
  return book;
}

/** The same prices, disputed where deep pools contradict them. */
export function pricesWithVeto(book: OwnedPriceBook, poolUsd: PoolUsd, clock: Clock): Services["prices"] {
  return withPoolVeto(book, poolUsd, ({ class: kind }) => MAX_DIVERGENCE_BPS[kind], clock);
}

/** The configured source of prices, confirmed by the second source if one is configured. */
export function priceSource(
  config: PricedConfig,
  clock: Clock,
  onFault: (error: unknown) => void,
): PriceSource {
  const { prices } = config;
  if (prices.source === "fixed") return createFixedPrices(prices.usd, clock);
  const primary = httpPrices(prices, prices.timeoutMs);
  if (prices.second === undefined) return primary;
  const maxDivergence = new Map<string, number>();
  for (const { priceId, class: kind } of currenciesOf(config))
    maxDivergence.set(priceId, Math.min(maxDivergence.get(priceId) ?? Infinity, MAX_DIVERGENCE_BPS[kind]));
  const second = httpPrices(prices.second, prices.timeoutMs);
  return createConfirmedPrices(
    primary,
    second,
    (id) => maxDivergence.get(id) ?? MAX_DIVERGENCE_BPS.stable,
    prices.maxAgeMs,
    onFault,
  );
}

function currenciesOf({ chains, nonEvmChains }: Pick<ApiConfig, "chains" | "nonEvmChains">) {
  return [...chains, ...nonEvmChains.map(({ chain }) => chain)].flatMap(({ native, tokens }) => [
    native,
    ...tokens,
  ]);
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

/** CoinGecko expects free keys, on its public host, in a different header than paid keys. */
function priceKeyHeader(url: string): string {
  return new URL(url).hostname === "api.coingecko.com" ? "x-cg-demo-api-key" : "x-cg-pro-api-key";
}
