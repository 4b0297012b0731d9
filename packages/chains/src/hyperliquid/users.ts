import { parseAddress, type Hex, type HyperliquidAttestationFacts } from "@causeway/domain";
import { heldBy, holdingOf } from "./holdings.ts";
import { createExchangeRpc } from "./rpc.ts";
import { withAllowance } from "./shared-rpc.ts";
import { createWeightShares } from "./weight-shares.ts";

export interface ExchangeUsersOptions {
  /** Base URL of Hyperliquid's API. */
  readonly apiUrl: string;
  readonly profile: HyperliquidAttestationFacts["profile"];
  readonly usdcTokenId: Hex;
  /** The endpoint's rate limit, if it has one. */
  readonly weightPerMinute?: number | undefined;
}

/** The balances of Hyperliquid users; what their wallets sign needs nothing from Hyperliquid. */
export interface ExchangeUsers {
  /** What can be withdrawn now, in base units. @throws RpcFault */
  balance(user: Hex, currency: Hex): Promise<bigint>;
  /**
   * The token of a currency as actions write it; undefined: Hyperliquid lists no such currency. Listed tokens
   * are cached.
   *
   * @throws RpcFault
   */
  token(currency: Hex): Promise<{ readonly name: string; readonly tokenId: Hex } | undefined>;
  close(): Promise<void>;
}

export function createExchangeUsers(options: ExchangeUsersOptions): ExchangeUsers {
  const { apiUrl, profile, usdcTokenId, weightPerMinute } = options;
  const endpoint = createExchangeRpc({ apiUrl, profile });
  const wallets = weightPerMinute === undefined ? undefined : createWeightShares(weightPerMinute).wallets;
  const rpc = wallets === undefined ? endpoint : withAllowance(endpoint, wallets.takeNow, wallets.charge);
  return {
    balance: async (user, currency) => {
      const account = parseAddress(user);
      const holding = await holdingOf(rpc, currency, usdcTokenId);
      return account === undefined || holding === undefined ? 0n : await heldBy(rpc, account, holding);
    },
    token: async (currency) => (await holdingOf(rpc, currency, usdcTokenId))?.token,
    close: () => rpc.close(),
  };
}
