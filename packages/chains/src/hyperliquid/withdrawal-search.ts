import { hyperliquidNonceWindow, type Address, type Hex32 } from "@causeway/domain";
import { garbage, inconsistent, type WithdrawalAnswer } from "@causeway/families";
import type { FactCache } from "../evm/fact-cache.ts";
import {
  isExecutionOf,
  isNonceOver,
  mayBeExecutionOf,
  type HyperliquidWithdrawal,
  type WithdrawalRules,
} from "@causeway/families/hyperliquid";
import { newestTransactionsOf } from "./newest-transactions.ts";
import type { HyperliquidRpc } from "./rpc.ts";
import { readWholeLedger, type CachedPage } from "./whole-ledger.ts";

/** The outcome of a withdrawal. */
export type WithdrawalOutcome =
  | { readonly kind: "executed"; readonly depository: Address; readonly transactionId: Hex32 }
  /** The withdrawal can no longer be executed. */
  | { readonly kind: "over" }
  | { readonly kind: "pending" };

/**
 * Searches the execution of a withdrawal: in the reported transaction, among the newest of the depositories,
 * and in their ledgers over the whole time in which its nonce could be used. Only the transaction itself
 * counts; the ledger shows where to look, or that there is nothing to find. It proves the latter only without
 * gaps; otherwise the withdrawal stays pending.
 *
 * @throws RpcFault also if a ledger reports a similar transfer, or anything unknown that a depository sent,
 * whose transaction cannot be read: then the withdrawal is neither executed nor over
 * @param cachedPages ledger pages of times that were over when they were read, including the maximum delay of
 * indexes
 */
export async function searchExecution(
  rpc: HyperliquidRpc,
  withdrawal: HyperliquidWithdrawal,
  rules: WithdrawalRules,
  hint: Hex32 | undefined,
  cachedPages?: FactCache<CachedPage>,
): Promise<WithdrawalOutcome> {
  if (hint !== undefined) {
    const hinted = await rpc.transaction(hint);
    if (hinted !== undefined && isExecutionOf(hinted, withdrawal, rules))
      return { kind: "executed", depository: hinted.user, transactionId: hinted.hash };
  }
  const [primary] = rules.depositories;
  if (primary === undefined) return { kind: "pending" };
  // Read the clock before the ledgers, so that the ledgers are at least as new.
  const clock = await rpc.clock(primary);
  const window = hyperliquidNonceWindow(withdrawal.nonce);
  if (clock < window.opensAt) return { kind: "pending" };

  const isOver = isNonceOver(withdrawal.nonce, clock);
  let isWhole = true;
  for (const depository of rules.depositories) {
    for (const transaction of await newestTransactionsOf(rpc, depository))
      if (isExecutionOf(transaction, withdrawal, rules))
        return { kind: "executed", depository, transactionId: transaction.hash };
    const to = clock < window.closesAt ? clock : window.closesAt;
    const ledger = await readWholeLedger(rpc, depository, window.opensAt, to, {
      onlySent: true,
      cachedPages: isOver ? cachedPages : undefined,
    });
    // An execution counts no matter where it is found; only its absence requires a ledger without gaps.
    isWhole &&= ledger.isWhole;
    const { transfers, unknown } = ledger;
    for (const entry of [
      ...transfers.filter((transfer) => mayBeExecutionOf(transfer, withdrawal, rules)),
      // Before the window is over, an unreadable entry proves nothing about what may still come.
      ...(isOver ? unknown : []),
    ]) {
      const transaction = await rpc.transaction(entry.hash);
      if (transaction === undefined)
        throw inconsistent("txDetails", "the ledger lists a transaction that the explorer does not return");
      if (isExecutionOf(transaction, withdrawal, rules))
        return { kind: "executed", depository, transactionId: transaction.hash };
      if (transaction.isOpaque && transaction.error === undefined)
        throw garbage("txDetails", `cannot determine whether ${entry.hash} executed the withdrawal`);
    }
  }
  return isWhole && isOver ? { kind: "over" } : { kind: "pending" };
}

/** @param currentDepository the depository to name for a withdrawal that was not executed */
export function toAnswer(
  { id: withdrawalId, recipient, currency, amount }: HyperliquidWithdrawal,
  outcome: WithdrawalOutcome,
  currentDepository: Address,
): WithdrawalAnswer {
  const depository = outcome.kind === "executed" ? outcome.depository : currentDepository;
  const status = outcome.kind === "over" ? "expired" : outcome.kind;
  return { withdrawalId, depository, status, recipient, currency, amount };
}
