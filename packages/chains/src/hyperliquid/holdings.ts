import {
  hyperliquidPlaceOf,
  parseDecimal,
  PERPS_DECIMALS,
  type Address,
  type HyperliquidPlace,
  type Hex,
} from "@causeway/domain";
import { RpcFault } from "@causeway/families";
import type { HyperliquidRpc } from "./rpc.ts";

/** Where a balance is held on Hyperliquid (spot, perps, or a dex), with its token as listed there. */
export interface Holding {
  readonly place: HyperliquidPlace;
  readonly token: { readonly name: string; readonly tokenId: Hex; readonly index: number };
  readonly decimals: number;
}

/** Undefined if Hyperliquid does not list the currency. @throws RpcFault */
export async function findHolding(
  rpc: Pick<HyperliquidRpc, "token">,
  currency: Hex,
  usdcTokenId: Hex,
): Promise<Holding | undefined> {
  const place = hyperliquidPlaceOf(currency);
  if (place === undefined) return undefined;
  const token = await rpc.token(place.kind === "perps" ? usdcTokenId : place.tokenId);
  return token && { place, token, decimals: place.kind === "perps" ? PERPS_DECIMALS : token.decimals };
}

/** The balance of a holding that an account can transfer now, base units. @throws RpcFault */
export async function transferableBalance(
  rpc: Pick<HyperliquidRpc, "withdrawable" | "spotBalances">,
  account: Address,
  { place, token, decimals }: Holding,
): Promise<bigint> {
  if (place.kind !== "spot")
    return units(await rpc.withdrawable(account, place.kind === "perps" ? "" : place.dex), decimals);
  const balance = (await rpc.spotBalances(account)).get(token.index);
  return balance === undefined ? 0n : units(balance.total, decimals) - units(balance.hold, decimals);
}

/** Converts decimal text to base units, rounded down. @throws RpcFault */
export function units(text: string, decimals: number): bigint {
  const parsed = parseDecimal(text, decimals);
  if (parsed === undefined)
    throw new RpcFault({ kind: "garbage", method: "balance", reason: "amount is not a decimal number" });
  return parsed < 0n ? 0n : parsed;
}
