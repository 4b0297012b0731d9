import { enginePolicy } from "../support/engine-policy.ts";
import { defaultFeePolicy } from "@causeway/domain";
import type { Services } from "../../apps/api/src/db/services.port.ts";
import { measuredQuoteGas } from "../../apps/api/src/quotes/quote-gas.ts";
import { noChains } from "./no-chains.ts";
import { adjustablePrices } from "./adjustable-prices.ts";

/** Services for tests without sponsoring apps: no balances, and no known prices. */
export const noAppBalances: Pick<
  Services,
  "prices" | "quotePolicy" | "enginePolicy" | "appBalance" | "chains"
> = {
  chains: noChains,
  prices: adjustablePrices({}),
  quotePolicy: {
    ...defaultFeePolicy,
    gas: measuredQuoteGas,
    maxTtlSeconds: 7 * 24 * 3_600,
    solverChainName: "none",
  },
  enginePolicy,
  appBalance: { chainId: 1, currencies: [], confirmations: 1, minTopUpUsd: 0n, claimLifetimeSeconds: 600 },
};
