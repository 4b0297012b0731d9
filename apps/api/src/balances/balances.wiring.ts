import { accountSignatures } from "../chains/signatures.adapter.ts";
import type { ConnectedChain } from "../chains/chains.port.ts";
import { pooledRandomBytes } from "../db/pooled-bytes.adapter.ts";
import type { Services } from "../db/services.port.ts";
import { acceptClaim } from "./accept-claim.ts";
import type { AppBalanceRoutes } from "./app-balance-routes.port.ts";
import { offerClaim } from "./offer-claim.ts";
import { readBalances, readClaims } from "./read-balances.ts";

/**
 * The chain on which app balances are topped up and paid out.
 * @throws Error when it is not connected
 */
export function homeChain({ chains, appBalance }: Pick<Services, "chains" | "appBalance">): ConnectedChain {
  const home = chains.get(appBalance.chainId);
  if (home === undefined) throw new Error("invariant violated: the chain of app balances is not connected");
  return home;
}

/** The use cases of the app balance with their services given. */
export function appBalanceRouteServices(services: Services): AppBalanceRoutes {
  const claiming = {
    ...services,
    random: pooledRandomBytes(),
    signatures: accountSignatures(homeChain(services).connection.reader),
  };
  const { balances } = services;
  return {
    balances: (wallet) => readBalances(services, wallet),
    events: (wallet, page) => balances.events(wallet, page),
    holds: async (wallet, page) => {
      const [holds, book] = await Promise.all([balances.holds(wallet, page), balances.book(wallet)]);
      return { holds, exposureUsd: book.heldUsd };
    },
    claims: (wallet, page) => readClaims(services, wallet, page),
    offerClaim: (question) => offerClaim(claiming, question),
    acceptClaim: (claimId, signature, keep) => acceptClaim(claiming, claimId, signature, keep),
  };
}
