import {
  isOfKey,
  type LighterTransaction,
  type FoundTransfers,
  type WithdrawalPayment,
} from "@causeway/families/lighter";
import type { LighterRpc } from "./rpc.ts";

export interface SearchBounds {
  /** Maximum pages of the depository's history per search. */
  readonly maxPages: number;
  /** Concurrent requests to Lighter. */
  readonly maxConcurrent: number;
}

/**
 * Searches the transaction that used the nonce of a payload: first the one that the caller names, then,
 * newest first, in the depository's history at the explorer. Each line of the history is only a hint, and
 * every transaction is read from Lighter itself. The relevant history is complete once it contains a
 * transaction of the same key with a smaller nonce, or its end. If it cannot be completed (no explorer, too
 * long, a line unknown to Lighter), the answer is marked as incomplete.
 * @throws RpcFault if a request fails
 */
export async function findTransfers(
  rpc: LighterRpc,
  payment: WithdrawalPayment,
  hint: string | undefined,
  bounds: SearchBounds,
): Promise<FoundTransfers> {
  const found: LighterTransaction[] = [];
  const hinted = hint === undefined ? undefined : await rpc.transaction(hint);
  if (hinted !== undefined) found.push(hinted);
  if (found.some((transaction) => isSettledUse(payment, transaction)) || !rpc.hasHistory)
    return { transactions: found, isComplete: false };

  let isWhole = true;
  for (let page = 0; page < bounds.maxPages; page += 1) {
    const lines = await rpc.transfersOf(payment.depository, page);
    const outgoing = lines.entries.filter(({ fromAccountIndex }) => fromAccountIndex === payment.depository);
    for (let start = 0; start < outgoing.length; start += bounds.maxConcurrent) {
      const requests = outgoing
        .slice(start, start + bounds.maxConcurrent)
        .map(({ hash }) => rpc.transaction(hash));
      for (const transaction of await Promise.all(requests)) {
        if (transaction?.transfer === undefined) isWhole = false;
        else found.push(transaction);
      }
      if (found.some((transaction) => isSettledUse(payment, transaction)))
        return { transactions: found, isComplete: false };
      if (found.some((transaction) => isBefore(payment, transaction)))
        return { transactions: found, isComplete: isWhole };
    }
    if (lines.isLast) return { transactions: found, isComplete: isWhole };
  }
  return { transactions: found, isComplete: false };
}

function isSettledUse(payment: WithdrawalPayment, { transfer, state }: LighterTransaction): boolean {
  return (
    state === "final" &&
    transfer !== undefined &&
    isOfKey(payment, transfer) &&
    transfer.nonce === payment.transfer.nonce
  );
}

/** A transaction that was in a block before the payload's nonce became usable. */
function isBefore(payment: WithdrawalPayment, { transfer, state }: LighterTransaction): boolean {
  return (
    state === "final" &&
    transfer !== undefined &&
    isOfKey(payment, transfer) &&
    transfer.nonce < payment.transfer.nonce
  );
}
