import { exchangeNonceWindow, type Address, type Hex32 } from "@causeway/domain";
import { garbage, inconsistent, type WithdrawalAnswer } from "@causeway/families";
import type { RememberedFacts } from "../evm/remembered-facts.ts";
import {
  carriesOut,
  isNonceOver,
  mayCarryOut,
  type ExchangeWithdrawal,
  type WithdrawalRules,
} from "@causeway/families/hyperliquid";
import { newestTransactionsOf } from "./newest-transactions.ts";
import type { ExchangeRpc } from "./rpc.ts";
import { readWholeLedger, type KnownPage } from "./whole-ledger.ts";

/** What became of a withdrawal. */
export type WithdrawalOutcome =
  | { readonly kind: "executed"; readonly depository: Address; readonly transactionId: Hex32 }
  /** It can never be executed any more. */
  | { readonly kind: "over" }
  | { readonly kind: "pending" };

/**
 * Looks for the execution of a withdrawal: in the transaction that somebody names, among the newest of the
 * depositories, and in their ledgers over the whole time in which its nonce could be taken. Only what the
 * transaction itself says counts; the ledger says where to look, and that there is nothing to be found. It
 * can say the latter only where it has no gaps: otherwise the withdrawal stays pending.
 *
 * @throws RpcFault also when a ledger tells of a transfer like it, or of anything unknown that a depository
 * sent, whose transaction cannot be read: then it is neither executed nor over
 * @param told pages of ledgers, of times that were over with all the delay that indexes have when they were
 * read
 */
export async function searchExecution(
  rpc: ExchangeRpc,
  withdrawal: ExchangeWithdrawal,
  rules: WithdrawalRules,
  hint: Hex32 | undefined,
  told?: RememberedFacts<KnownPage>,
): Promise<WithdrawalOutcome> {
  if (hint !== undefined) {
    const named = await rpc.transaction(hint);
    if (named !== undefined && carriesOut(named, withdrawal, rules))
      return { kind: "executed", depository: named.user, transactionId: named.hash };
  }
  const [primary] = rules.depositories;
  if (primary === undefined) return { kind: "pending" };
  // Before the ledgers: they are then at least as new as it.
  const clock = await rpc.clock(primary);
  const window = exchangeNonceWindow(withdrawal.nonce);
  if (clock < window.opensAt) return { kind: "pending" };

  const isOver = isNonceOver(withdrawal.nonce, clock);
  let isWhole = true;
  for (const depository of rules.depositories) {
    for (const transaction of await newestTransactionsOf(rpc, depository))
      if (carriesOut(transaction, withdrawal, rules))
        return { kind: "executed", depository, transactionId: transaction.hash };
    const to = clock < window.closesAt ? clock : window.closesAt;
    const ledger = await readWholeLedger(rpc, depository, window.opensAt, to, {
      onlySent: true,
      known: isOver ? told : undefined,
    });
    // An execution counts wherever it is found. Only its absence needs a ledger without gaps.
    isWhole &&= ledger.isWhole;
    const { transfers, unknown } = ledger;
    for (const entry of [
      ...transfers.filter((one) => mayCarryOut(one, withdrawal, rules)),
      // Before the window is over an entry that nobody can read says nothing about what may still come.
      ...(isOver ? unknown : []),
    ]) {
      const transaction = await rpc.transaction(entry.hash);
      if (transaction === undefined)
        throw inconsistent("txDetails", "the ledger lists a transaction that the explorer does not return");
      if (carriesOut(transaction, withdrawal, rules))
        return { kind: "executed", depository, transactionId: transaction.hash };
      if (transaction.isOpaque && transaction.error === undefined)
        throw garbage("txDetails", `cannot determine whether ${entry.hash} executed the withdrawal`);
    }
  }
  return isWhole && isOver ? { kind: "over" } : { kind: "pending" };
}

/** @param present the depository of a withdrawal that was not executed */
export function toAnswer(
  { id: withdrawalId, recipient, currency, amount }: ExchangeWithdrawal,
  outcome: WithdrawalOutcome,
  present: Address,
): WithdrawalAnswer {
  const depository = outcome.kind === "executed" ? outcome.depository : present;
  const status = outcome.kind === "over" ? "expired" : outcome.kind;
  return { withdrawalId, depository, status, recipient, currency, amount };
}
