import { accountSignatures } from "../chains/signatures.adapter.ts";
import { pooledRandomBytes } from "../db/pooled-bytes.adapter.ts";
import type { AppBalanceRoutes } from "../balances/app-balance-routes.port.ts";
import type { Services } from "../db/services.port.ts";
import { acceptClaim } from "../balances/accept-claim.ts";
import { offerClaim } from "../balances/offer-claim.ts";
import { readBalances, readClaims } from "../balances/read-balances.ts";

/**
 * The use cases of the app balance with their services given.
 *
 * @throws Error when its chain is not connected
 */
export function appBalanceRouteServices(services: Services): AppBalanceRoutes {
  const home = services.chains.get(services.appBalance.chainId);
  if (home === undefined) throw new Error("invariant violated: the chain of app balances is not connected");
  const claiming = {
    ...services,
    random: pooledRandomBytes(),
    signatures: accountSignatures(home.connection.reader),
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
