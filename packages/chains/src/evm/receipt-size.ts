import type { Hex } from "@causeway/domain";
import { isTooLarge } from "./rpc-errors.ts";
import { inconsistent } from "../nodes/rpc-fault.ts";
import type { RpcTransport } from "../nodes/transport.ts";

/**
 * Bytes up to which an oracle reads the answers of its nodes. A log costs at least 375 gas and is written in 350 to 400 bytes, so that a receipt has about one
 * byte for each gas: this holds the largest transaction that chains allow, and several times that of EIP-7825.
 */
export const MAX_EVIDENCE_BYTES = 64 * 1024 * 1024;

/** The receipt of a transaction with no more gas than this stays far below {@link MAX_EVIDENCE_BYTES}. */
const SURELY_READABLE_GAS = 32_000_000n;

/**
 * Whether oracles can read the receipt of a mined transaction. Of one with a modest gas limit that is known without a look.
 * @throws RpcFault when the node does not answer for another reason than size, or does not have the receipt
 */
export async function isReceiptReadable(
  transport: Pick<RpcTransport, "request">,
  { hash, gasLimit }: { readonly hash: Hex; readonly gasLimit?: bigint },
): Promise<boolean> {
  if (gasLimit === undefined || gasLimit <= SURELY_READABLE_GAS) return true;
  const method = "eth_getTransactionReceipt";
  try {
    if ((await transport.request(method, [hash])) === null)
      throw inconsistent(method, "a mined transaction has no receipt yet");
    return true;
  } catch (error) {
    if (isTooLarge(error)) return false;
    throw error;
  }
}
