import type { Address } from "@causeway/domain";
import { RpcFault } from "@causeway/families";
import type { HyperliquidTransaction } from "@causeway/families/hyperliquid";
import type { HyperliquidRpc } from "./rpc.ts";

/**
 * The newest transactions that an account signed; empty if the explorer refuses to look that far back. Other
 * accounts cannot fill this list. Transactions in it happened, but a missing one may have happened too.
 * @throws RpcFault for anything but a refusal
 */
export async function newestTransactionsOf(
  rpc: Pick<HyperliquidRpc, "transactionsOf">,
  account: Address,
): Promise<readonly HyperliquidTransaction[]> {
  try {
    return await rpc.transactionsOf(account);
  } catch (error) {
    if (error instanceof RpcFault && error.kind === "refused") return [];
    throw error;
  }
}
