import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Currency } from "@causeway/domain";
import { acceptClaim } from "../../apps/api/src/balances/accept-claim.ts";
import { offerClaim } from "../../apps/api/src/balances/offer-claim.ts";
import {
  readBalanceEvents,
  readBalances,
  readClaims,
  readHolds,
} from "../../apps/api/src/balances/read-balances.ts";
import type { Bound } from "./use-cases.ts";

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

export const appBalanceUseCases = {
  readBalances,
  readBalanceEvents,
  readHolds,
  readClaims,
  offerClaim,
  acceptClaim,
};

export type FakeAppBalance = Bound<typeof appBalanceUseCases>;

/** App balances in which every wallet has no funds and no history. */
export function fakeAppBalance(overrides: Partial<FakeAppBalance> = {}): FakeAppBalance {
  return {
    readBalances: async () => ({
      main: { currency: aBalanceCurrency, amount: 0n, pending: 0n, owed: 0n, usd: 0n },
      all: [],
      totalUsd: 0n,
      heldUsd: 0n,
      availableUsd: 0n,
    }),
    readBalanceEvents: async () => [],
    readHolds: async () => ({ holds: [], exposureUsd: 0n }),
    readClaims: async () => [],
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
