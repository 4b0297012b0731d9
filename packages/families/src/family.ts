import type { FamilyId } from "@causeway/domain";
import type { Depositories } from "./depositories.ts";
import type { Evidence, PaymentAnswer, PaymentQuestion, TransactionDeposits } from "./evidence.ts";

/** A chain family's decisions about final transactions, without I/O; `packages/chains` reads the facts. */

/** Solana derives addresses with asynchronous hashes. */
type MaybePromise<T> = T | Promise<T>;

export interface Family<F extends FamilyId, Facts, Rules, Transaction> {
  readonly id: F;
  /** Seconds until a retry while endpoints lag behind each other. */
  readonly retryAfterSeconds: (facts: Facts) => number;
  /** The part of a chain's configuration that decisions depend on. */
  readonly rules: (depositories: Depositories, facts: Facts) => MaybePromise<Rules>;
  /** The deposits of a final, successful transaction. The chain must have a depository. */
  readonly deposits: (rules: Rules, transaction: Transaction) => MaybePromise<Evidence<TransactionDeposits>>;
  /** The payments of a final, successful transaction. */
  readonly payments: (
    rules: Rules,
    transaction: Transaction,
    question: PaymentQuestion,
  ) => MaybePromise<Evidence<PaymentAnswer>>;
}
