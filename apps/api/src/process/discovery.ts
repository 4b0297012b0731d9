import type { Address } from "@causeway/domain";
import type { Lifecycle } from "@causeway/service-kit";
import type { Sql } from "../db/pool.postgres.ts";
import { pollTraffic } from "../markets/tokens/polled-traffic.postgres.ts";
import { createTokenBook } from "../markets/tokens/token-book.adapter.ts";
import { createTokenLists } from "../markets/tokens/token-lists.adapter.ts";
import { createUnlistedTokens } from "../markets/tokens/unlisted-tokens.adapter.ts";
import type { TokenListConfig } from "../config/config.ts";
import { monotonicClock } from "../config/monotonic-clock.ts";
import type { DiscoveryRoutes } from "../discovery/discovery-routes.port.ts";
import type { Reservations } from "../markets/quote.port.ts";
import type { Services } from "../db/services.port.ts";
import type { TokenBook } from "../markets/tokens/token-book.port.ts";
import type { TokenCatalog } from "../markets/tokens/token-catalog.port.ts";
import { chainHealth } from "../discovery/chain-health.ts";
import { chainLiquidity } from "../discovery/chain-liquidity.ts";
import { routeConfig } from "../discovery/route-config.ts";
import { createCurrencySearch } from "../discovery/search-currencies.ts";
import { createScanProgress } from "../deposits/scan-progress.ts";
import { tokenPrice } from "../discovery/token-price.ts";
import { trendingCurrencies } from "../discovery/trending-currencies.ts";

/** The largest public lists have some megabytes. */
const MAX_LIST_BYTES = 16 * 1024 * 1024;
/** Each reading goes through the requests of a week. */
const TRAFFIC_EVERY_MS = 5 * 60_000;

interface DiscoveryServices extends Pick<
  Services,
  "chains" | "clock" | "events" | "reads" | "prices" | "quotePolicy" | "poolUsd" | "liquidity"
> {
  readonly tokens: TokenBook & TokenCatalog;
  readonly reservations: Reservations;
  readonly solver: Address;
}

/**
 * Every token that can be named. Waits for the first reading of the token lists, within its bound: a list
 * that is away then is read later.
 */
export async function tokenBook(
  { chains, events }: Pick<Services, "chains" | "events">,
  { sources, refreshMs, timeoutMs }: TokenListConfig,
  lifecycle: Lifecycle,
): Promise<TokenBook & TokenCatalog> {
  const lists = createTokenLists({
    sources,
    chainIds: new Set(chains.all.map(({ chain }) => chain.id)),
    refreshMs,
    bounds: { maxBytes: MAX_LIST_BYTES, timeoutMs },
    onFault: (error, facts) => events.fault("token_list_fault", error, facts),
  });
  lifecycle.add("token lists", () => lists.close());
  await lists.refresh();
  return createTokenBook({
    chains,
    lists,
    unlisted: createUnlistedTokens({ chains, monotonic: monotonicClock }),
  });
}

/** What clients find out by asking; `sql` is for what this instance saw lately. */
export function discoveryRoutes(
  services: DiscoveryServices,
  { sql, lifecycle }: { readonly sql: Sql; readonly lifecycle: Lifecycle },
): DiscoveryRoutes {
  const { clock, events } = services;
  const traffic = pollTraffic(sql, {
    clock,
    everyMs: TRAFFIC_EVERY_MS,
    onFault: (error) => events.fault("token_traffic_fault", error, {}),
  });
  lifecycle.add("token traffic", () => traffic.close());
  const scanned = createScanProgress(services.reads, clock);
  return {
    currencies: createCurrencySearch(services),
    tokenPrice: (chainId, address) => tokenPrice(services, chainId, address),
    trending: (question) => trendingCurrencies({ ...services, traffic }, question),
    liquidity: (chainId) => chainLiquidity(services, chainId),
    health: async (chainId) => chainHealth(services, chainId, (await scanned()).get(chainId)),
    routeConfig: (question) => routeConfig(services, question),
  };
}
