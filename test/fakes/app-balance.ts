import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Currency } from "@causeway/domain";
import type { AppBalanceRoutes } from "../../apps/api/src/balances/app-balance-routes.port.ts";

export const aBalanceCurrency: Currency = {
  chainId: 11,
  address: NATIVE_CURRENCY,
  id: "eth",
  symbol: "ETH",
  name: "Ether",
  decimals: 18,
  class: "major",
  priceId: "ethereum",
  supportsBridging: true,
  supportsPermit: false,
  resetsApproval: false,
  logoUri: undefined,
  verified: true,
  maxFillAmount: undefined,
};

/** App balances of wallets that have nothing and never did anything. */
export function fakeAppBalance(overrides: Partial<AppBalanceRoutes> = {}): AppBalanceRoutes {
  return {
    balances: async () => ({
      main: { currency: aBalanceCurrency, amount: 0n, pending: 0n, owed: 0n, usd: 0n },
      all: [],
      totalUsd: 0n,
      heldUsd: 0n,
      availableUsd: 0n,
    }),
    events: async () => [],
    holds: async () => ({ holds: [], exposureUsd: 0n }),
    claims: async () => [],
    offerClaim: async (question) => ({
      ...question,
      amount: question.amount ?? 1n,
      claimId: `0x${"c1".repeat(32)}`,
      feeAmount: 2n,
      expiresAt: 1_790_000_600,
      createdAtMs: 1_790_000_000_000,
    }),
    acceptClaim: async () => undefined,
    ...overrides,
  };
}
