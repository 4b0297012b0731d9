import {
  isOfKey,
  type ExchangeTransaction,
  type FoundTransfers,
  type WithdrawalPayment,
} from "@causeway/families/lighter";
import type { ExchangeRpc } from "./rpc.ts";

export interface SearchBounds {
  /** Maximum pages of the depository's history per search. */
  readonly pages: number;
  /** Concurrent requests to Lighter. */
  readonly atOnce: number;
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
  rpc: ExchangeRpc,
  payment: WithdrawalPayment,
  hint: string | undefined,
  bounds: SearchBounds,
): Promise<FoundTransfers> {
  const found: ExchangeTransaction[] = [];
  const named = hint === undefined ? undefined : await rpc.transaction(hint);
  if (named !== undefined) found.push(named);
  if (found.some((transaction) => isSettledUse(payment, transaction)) || !rpc.hasHistory)
    return { transactions: found, isComplete: false };

  let isWhole = true;
  for (let page = 0; page < bounds.pages; page += 1) {
    const lines = await rpc.transfersOf(payment.depository, page);
    const own = lines.entries.filter(({ fromAccountIndex }) => fromAccountIndex === payment.depository);
    for (let at = 0; at < own.length; at += bounds.atOnce) {
      const asked = own.slice(at, at + bounds.atOnce).map(({ hash }) => rpc.transaction(hash));
      for (const transaction of await Promise.all(asked)) {
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

function isSettledUse(payment: WithdrawalPayment, { transfer, standing }: ExchangeTransaction): boolean {
  return (
    standing === "final" &&
    transfer !== undefined &&
    isOfKey(payment, transfer) &&
    transfer.nonce === payment.transfer.nonce
  );
}

/** A transaction that was in a block before the payload's nonce became usable. */
function isBefore(payment: WithdrawalPayment, { transfer, standing }: ExchangeTransaction): boolean {
  return (
    standing === "final" &&
    transfer !== undefined &&
    isOfKey(payment, transfer) &&
    transfer.nonce < payment.transfer.nonce
  );
}
