import type { ChainConnection } from "@causeway/chains";
import type { Chain } from "@causeway/domain";
import type { ConnectedChain } from "./chains.port.ts";

/** Users' balances on an EVM chain. */
export function accountsOn(
  { contracts }: Chain,
  { reader }: Pick<ChainConnection, "reader">,
): ConnectedChain["users"] {
  return {
    balance: async (user, currency) =>
      (await reader.accountState(user, currency, contracts.depository)).balance,
  };
}
