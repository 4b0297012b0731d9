import type { Hex } from "@causeway/domain";
import { inconsistent } from "@causeway/families";
import type { RpcTransport } from "../nodes/transport.ts";

/**
 * Bytes up to which an oracle reads the answers of its nodes. A log costs at least 375 gas and is written in
 * 350 to 400 bytes, so that a receipt has about one byte for each gas: this holds the largest transaction
 * that chains allow, and several times that of EIP-7825.
 */
export const MAX_EVIDENCE_BYTES = 64 * 1024 * 1024;

/** The receipt of a transaction with no more gas than this stays far below {@link MAX_EVIDENCE_BYTES}. */
const SURELY_READABLE_GAS = 32_000_000n;

/**
 * Reads the receipt of a mined transaction to find out whether oracles can read it. With a modest gas limit
 * that is known without reading.
 * @throws RpcFault or NodeRefusal, too large when oracles cannot read it; RpcFault when the node does not
 * answer, or does not have the receipt
 */
export async function requireReadableReceipt(
  transport: Pick<RpcTransport, "request">,
  { hash, gasLimit }: { readonly hash: Hex; readonly gasLimit?: bigint },
): Promise<void> {
  if (gasLimit === undefined || gasLimit <= SURELY_READABLE_GAS) return;
  const method = "eth_getTransactionReceipt";
  if ((await transport.request(method, [hash])) === null)
    throw inconsistent(method, "transaction is mined but has no receipt yet");
}
