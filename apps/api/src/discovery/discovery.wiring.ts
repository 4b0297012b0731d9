import type { Address } from "@causeway/domain";
import type { Services } from "../db/services.port.ts";
import { createScanProgress } from "../deposits/scan-progress.ts";
import type { Reservations } from "../markets/quote.port.ts";
import type { TokenBook } from "../markets/tokens/token-book.port.ts";
import type { TokenCatalog } from "../markets/tokens/token-catalog.port.ts";
import type { RecentTraffic } from "../markets/tokens/token-traffic.port.ts";
import { chainHealth } from "./chain-health.ts";
import { chainLiquidity } from "./chain-liquidity.ts";
import type { DiscoveryRoutes } from "./discovery-routes.port.ts";
import { routeConfig } from "./route-config.ts";
import { createCurrencySearch } from "./search-currencies.ts";
import { tokenPrice } from "./token-price.ts";
import { trendingCurrencies } from "./trending-currencies.ts";

interface DiscoveryServices extends Pick<
  Services,
  "chains" | "clock" | "reads" | "prices" | "quotePolicy" | "poolUsd" | "liquidity"
> {
  readonly tokens: TokenBook & TokenCatalog;
  readonly reservations: Reservations;
  readonly solver: Address;
  readonly traffic: RecentTraffic;
}

/** What clients can look up. */
export function discoveryRoutes(services: DiscoveryServices): DiscoveryRoutes {
  const scanned = createScanProgress(services.reads, services.clock);
  return {
    currencies: createCurrencySearch(services),
    tokenPrice: (chainId, address) => tokenPrice(services, chainId, address),
    trending: (question) => trendingCurrencies(services, question),
    liquidity: (chainId) => chainLiquidity(services, chainId),
    health: async (chainId) => chainHealth(services, chainId, (await scanned()).get(chainId)),
    routeConfig: (question) => routeConfig(services, question),
  };
}
