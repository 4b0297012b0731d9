import type { Hex } from "@causeway/domain";
import { inconsistent } from "@causeway/families";
import type { RpcTransport } from "../nodes/transport.ts";

/**
 * Maximum bytes of node responses that an oracle reads. A log costs at least 375 gas and takes 350 to 400
 * bytes, so a receipt has about one byte per gas. This is enough for the largest transaction that chains
 * allow, and several times the limit of EIP-7825.
 */
export const MAX_EVIDENCE_BYTES = 64 * 1024 * 1024;

/** The receipt of a transaction with no more gas than this stays far below {@link MAX_EVIDENCE_BYTES}. */
const MAX_SURELY_READABLE_GAS = 32_000_000n;

/**
 * Checks that oracles can read the receipt of a mined transaction: reads it, unless the gas limit shows that
 * it is small.
 * @throws RpcFault or NodeRefusal, too large if oracles cannot read it; RpcFault if the node does not answer,
 * or does not have the receipt
 */
export async function requireReadableReceipt(
  transport: Pick<RpcTransport, "request">,
  { hash, gasLimit }: { readonly hash: Hex; readonly gasLimit?: bigint },
): Promise<void> {
  if (gasLimit === undefined || gasLimit <= MAX_SURELY_READABLE_GAS) return;
  const method = "eth_getTransactionReceipt";
  if ((await transport.request(method, [hash])) === null)
    throw inconsistent(method, "transaction is mined but has no receipt yet");
}
