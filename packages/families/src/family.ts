import type { FamilyId } from "@causeway/domain";
import type { Depositories } from "./depositories.ts";
import type { Evidence, PaymentAnswer, PaymentQuestion, TransactionDeposits } from "./evidence.ts";

/** What a chain family decides about final transactions, without I/O: `chains` reads what is judged here. */

/** Solana derives addresses with asynchronous hashes. */
type MaybePromise<T> = T | Promise<T>;

export interface Family<F extends FamilyId, Facts, Rules, Transaction> {
  readonly id: F;
  /** When to ask again while endpoints lag behind each other. */
  readonly retryAfterSeconds: (facts: Facts) => number;
  /** What of a chain's configuration its transactions are judged by. */
  readonly rules: (depositories: Depositories, facts: Facts) => MaybePromise<Rules>;
  /** The deposits of a final transaction that succeeded. The chain has a depository. */
  readonly deposits: (rules: Rules, transaction: Transaction) => MaybePromise<Evidence<TransactionDeposits>>;
  /** What such a transaction paid. */
  readonly payments: (
    rules: Rules,
    transaction: Transaction,
    question: PaymentQuestion,
  ) => MaybePromise<Evidence<PaymentAnswer>>;
}
