import type { Address } from "@causeway/domain";
import { RpcFault } from "@causeway/families";
import type { ExchangeTransaction } from "@causeway/families/hyperliquid";
import type { ExchangeRpc } from "./rpc.ts";

/**
 * The newest transactions that an account signed; empty when the explorer refuses to look that far back.
 * Other accounts cannot fill this list. What is in it happened, but a transaction that is missing from it may
 * have happened all the same.
 * @throws RpcFault for anything but a refusal
 */
export async function newestTransactionsOf(
  rpc: Pick<ExchangeRpc, "transactionsOf">,
  account: Address,
): Promise<readonly ExchangeTransaction[]> {
  try {
    return await rpc.transactionsOf(account);
  } catch (error) {
    if (error instanceof RpcFault && error.kind === "refused") return [];
    throw error;
  }
}
