import { sha256Text, toHex } from "@causeway/domain";
import type { Hex32 } from "@causeway/domain";

/**
 * sha256 of the lower-case parts joined by colons: the formula of on-chain ids and idempotency keys.
 * @throws RangeError if a part contains a colon, because two lists of parts would then share an id
 */
export function deterministicId(parts: readonly string[]): Hex32 {
  if (parts.some((part) => part.includes(":")))
    throw new RangeError("invariant violated: part of an id contains a colon");
  return toHex(sha256Text(parts.join(":").toLowerCase()));
}

/**
 * Identifies one deposit inside its transaction. `index` is the block-wide log index on EVM chains, and `"0"`
 * where a transaction has at most one deposit.
 * @param transactionId canonical, see `canonicalTransactionId`
 */
export function onchainId(chain: string, transactionId: string, index: string): Hex32 {
  return deterministicId([chain, transactionId, index]);
}
