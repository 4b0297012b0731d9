import type { Signatures } from "../chains/signatures.port.ts";
import { accountSignatures } from "../chains/signatures.adapter.ts";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { Services } from "../db/services.port.ts";

/**
 * The chain on which app balances are topped up and paid out.
 * @throws Error when the chain is not connected
 */
export function homeChain({ chains, appBalance }: Pick<Services, "chains" | "appBalance">): ConnectedChain {
  const home = chains.get(appBalance.chainId);
  if (home === undefined) throw new Error("invariant violated: the chain of app balances is not connected");
  return home;
}

/** Verifies signatures of wallets that have an app balance. */
export function walletSignatures(services: Pick<Services, "chains" | "appBalance">): Signatures {
  return accountSignatures(homeChain(services).connection.reader);
}
