import type { Services } from "../../apps/api/src/ports/services.ts";
import { noChains } from "./no-chains.ts";
import { adjustablePrices } from "./adjustable-prices.ts";

/** For tests in which no app vouches for anything: balances of no currency, and prices that nobody knows. */
export const noAppBalances: Pick<Services, "prices" | "appBalance" | "chains"> = {
  chains: noChains,
  prices: adjustablePrices({}),
  appBalance: { chainId: 1, currencies: [], confirmations: 1, leastTopUpUsd: 0n, claimLifetimeSeconds: 600 },
};
