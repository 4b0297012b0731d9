import { NATIVE_CURRENCY } from "@causeway/domain";
import type { ListedCurrency } from "@causeway/wire";
import type { DiscoveryRoutes } from "../../apps/api/src/discovery/discovery-routes.port.ts";

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

/** Answers that are complete and well formed, whatever is asked. */
export function fakeDiscovery(overrides: Partial<DiscoveryRoutes> = {}): DiscoveryRoutes {
  return {
    currencies: async () => [aListedCurrency],
    tokenPrice: async () => 3_000n * 10n ** 18n,
    trending: () => [aListedCurrency],
    liquidity: async (chainId) => ({
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
    health: async (chainId) => ({
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
