import { NATIVE_CURRENCY } from "@causeway/domain";
import type { ListedCurrency } from "@causeway/wire";
import { readChainHealth } from "../../apps/api/src/discovery/chain-health.ts";
import { chainLiquidity } from "../../apps/api/src/discovery/chain-liquidity.ts";
import { routeConfig } from "../../apps/api/src/discovery/route-config.ts";
import type { createCurrencySearch } from "../../apps/api/src/discovery/search-currencies.ts";
import { tokenPrice } from "../../apps/api/src/discovery/token-price.ts";
import { trendingCurrencies } from "../../apps/api/src/discovery/trending-currencies.ts";
import type { Bound } from "./use-cases.ts";

const ACCOUNT = `0x${"c3".repeat(20)}`;

export const aListedCurrency: ListedCurrency = {
  id: "eth",
  chainId: 11,
  address: NATIVE_CURRENCY,
  symbol: "ETH",
  name: "Ether",
  decimals: 18,
  vmType: "evm",
  metadata: { logoURI: "", verified: true, isNative: true },
};

export const discoveryUseCases = {
  tokenPrice,
  trendingCurrencies,
  chainLiquidity,
  readChainHealth,
  routeConfig,
};

export interface FakeDiscovery extends Bound<typeof discoveryUseCases> {
  readonly searchCurrencies: ReturnType<typeof createCurrencySearch>;
}

/** A discovery service that answers every request with a complete, well-formed example. */
export function fakeDiscovery(overrides: Partial<FakeDiscovery> = {}): FakeDiscovery {
  return {
    searchCurrencies: async () => [aListedCurrency],
    tokenPrice: async () => 3_000n * 10n ** 18n,
    trendingCurrencies: () => [aListedCurrency],
    chainLiquidity: async (chainId) => ({
      liquidity: [
        {
          chainId,
          currencyId: "eth",
          symbol: "ETH",
          address: NATIVE_CURRENCY,
          decimals: 18,
          balance: "1",
          amountUsd: "0.000000",
        },
      ],
    }),
    readChainHealth: async (chainId) => ({
      healthy: true,
      chainId,
      disabled: false,
      blockProductionLagging: false,
      pricesGas: true,
      blockNumber: "1",
      blockAgeMs: 0,
      scannedBlockNumber: "7",
      scanLagBlocks: 0,
      scanLagSeconds: 0,
      effects: "traced",
      nodeLatencyMs: 12,
      endpoints: [],
    }),
    routeConfig: async () => ({
      enabled: true,
      user: { balance: "0", maxBridgeAmount: "0" },
      solver: { address: ACCOUNT, balance: "1", capacityPerRequest: "1" },
      supportsExternalLiquidity: false,
    }),
    ...overrides,
  };
}
