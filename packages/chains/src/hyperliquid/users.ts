import { parseAddress } from "@causeway/domain";
import type { OpenNonEvmUsers, UsersOptions } from "../non-evm-users.ts";
import { transferableBalance, findHolding } from "./holdings.ts";
import { createHyperliquidRpc } from "./rpc.ts";
import { withAllowance } from "./shared-rpc.ts";
import { createWeightShares } from "./weight-shares.ts";

/**
 * Withdrawable balances of Hyperliquid users. Their wallets' steps need no data from Hyperliquid. Listed
 * tokens are cached.
 */
export function connectHyperliquidUsers({
  chain,
  attestation,
}: Pick<UsersOptions, "chain" | "attestation">): OpenNonEvmUsers | undefined {
  if (chain.exchange === undefined) return undefined;
  const { profile, usdcTokenId } = chain.exchange;
  const weightPerMinute = attestation.hyperliquid?.weightPerMinute;
  const endpoint = createHyperliquidRpc({ apiUrl: chain.rpcUrl, profile });
  const wallets = weightPerMinute === undefined ? undefined : createWeightShares(weightPerMinute).wallets;
  const rpc = wallets === undefined ? endpoint : withAllowance(endpoint, wallets.takeNow, wallets.charge);
  return {
    balance: async (user, currency) => {
      const account = parseAddress(user);
      const holding = await findHolding(rpc, currency, usdcTokenId);
      return account === undefined || holding === undefined
        ? 0n
        : await transferableBalance(rpc, account, holding);
    },
    token: async (currency) => (await findHolding(rpc, currency, usdcTokenId))?.token,
    close: () => rpc.close(),
  };
}
