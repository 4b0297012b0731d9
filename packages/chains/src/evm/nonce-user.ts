import type { Address, TxHash } from "@causeway/domain";
import { quantityOf, toQuantity } from "@causeway/families/evm";
import { garbage } from "@causeway/families";
import type { RpcTransport } from "../nodes/transport.ts";

/**
 * Finds the transaction that used a nonce in the blocks from…to, by binary search on the account's
 * transaction count.
 *
 * @returns undefined if the nonce was used outside that range, or not at all
 * @throws RpcFault, also if the node no longer has the state of those blocks
 */
export async function findNonceUser(
  transport: RpcTransport,
  account: Address,
  nonce: number,
  from: bigint,
  to: bigint,
): Promise<TxHash | undefined> {
  const isUsedAt = async (block: bigint): Promise<boolean> => {
    const method = "eth_getTransactionCount";
    return quantityOf(await transport.request(method, [account, toQuantity(block)]), method) > BigInt(nonce);
  };
  if (!(await isUsedAt(to))) return undefined;
  // Search from the newest block back, in growing steps, because many nodes have no old states.
  let low = from;
  let high = to;
  for (let step = 1n; high > from; step *= 2n) {
    const below = high - step > from ? high - step : from;
    if (await isUsedAt(below)) {
      high = below;
      continue;
    }
    low = below + 1n;
    break;
  }
  while (low < high) {
    const middle = (low + high) / 2n;
    if (await isUsedAt(middle)) high = middle;
    else low = middle + 1n;
  }
  const method = "eth_getBlockByNumber";
  const block = await transport.request(method, [toQuantity(low), true]);
  if (
    typeof block !== "object" ||
    block === null ||
    !("transactions" in block) ||
    !Array.isArray(block.transactions)
  )
    throw garbage(method, "block has no list of transactions");
  for (const transaction of block.transactions as unknown[]) {
    if (typeof transaction !== "object" || transaction === null) continue;
    const { from: sender, nonce: senderNonce, hash } = transaction as Record<string, unknown>;
    if (typeof sender !== "string" || typeof hash !== "string") continue;
    if (sender.toLowerCase() === account && quantityOf(senderNonce, method) === BigInt(nonce))
      return hash.toLowerCase() as TxHash;
  }
  return undefined;
}
