import type { AttestationChain, FactsOf, FamilyId } from "@causeway/domain";
import type { Evidence, PaymentAnswer, PaymentQuestion, TransactionDeposits } from "./evidence.ts";

/** What a chain family decides about final transactions, without I/O: `chains` reads what is judged here. */

/** Solana derives addresses with asynchronous hashes. */
type MaybePromise<T> = T | Promise<T>;

export interface Family<F extends FamilyId, Rules, Transaction> {
  readonly id: F;
  /** When to ask again while endpoints lag behind each other. */
  readonly retryAfterSeconds: (facts: FactsOf<F>) => number;
  /** What of a chain's configuration its transactions are judged by. */
  readonly rules: (chain: AttestationChain, facts: FactsOf<F>) => MaybePromise<Rules>;
  /** The deposits of a final transaction that succeeded. The chain has a depository. */
  readonly deposits: (rules: Rules, transaction: Transaction) => MaybePromise<Evidence<TransactionDeposits>>;
  /** What such a transaction paid. */
  readonly payments: (
    rules: Rules,
    transaction: Transaction,
    question: PaymentQuestion,
  ) => MaybePromise<Evidence<PaymentAnswer>>;
}

/** A family whose transactions are its own affair. */
export type AnyFamily<F extends FamilyId> = Pick<Family<F, unknown, unknown>, "id" | "retryAfterSeconds"> & {
  readonly [part in "rules" | "deposits" | "payments"]: (...args: never) => unknown;
};
