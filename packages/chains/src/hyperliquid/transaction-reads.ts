import { parseHyperliquidToken, type Hex, type Hex32, type HyperliquidAction } from "@causeway/domain";
import { final, RpcFault, type Evidence } from "@causeway/families";
import type { HyperliquidTransaction, TransferRules } from "@causeway/families/hyperliquid";
import type { HyperliquidRpc } from "./rpc.ts";

/**
 * A transaction of this network. Hyperliquid refuses actions for another network, so an endpoint that returns
 * one serves a different network.
 * @throws RpcFault
 */
export async function findTransaction(
  rpc: Pick<HyperliquidRpc, "transaction">,
  hash: Hex32,
  network: string,
): Promise<Evidence<HyperliquidTransaction>> {
  const transaction = await rpc.transaction(hash);
  if (transaction === undefined) return { kind: "absent" };
  const { action } = transaction;
  if (action !== undefined && action.chain !== network)
    throw new RpcFault({
      kind: "wrongChain",
      method: "txDetails",
      reason: `the endpoint returned an action of a network other than ${network}`,
    });
  return final(transaction);
}

/** The decimals of the token that an action transfers. @throws RpcFault */
export async function decimalsFor(
  rpc: Pick<HyperliquidRpc, "token">,
  action: HyperliquidAction | undefined,
): Promise<TransferRules["decimalsOf"]> {
  const tokenId = action?.type === "SendAsset" ? parseHyperliquidToken(action.token)?.tokenId : undefined;
  const token = tokenId === undefined ? undefined : await rpc.token(tokenId);
  return (id: Hex) => (id === token?.tokenId ? token.decimals : undefined);
}
