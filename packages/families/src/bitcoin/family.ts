import type { BitcoinNetwork } from "@causeway/domain";
import { blockRetrySeconds, final, paidIn, refuted } from "../answer.ts";
import { depositoriesOf, currentFirst } from "../depositories.ts";
import type { PaymentQuestion } from "../evidence.ts";
import type { Family } from "../family.ts";
import type { BitcoinFacts } from "./facts.ts";
import { judgeDeposit, pays } from "./deposits.ts";
import { carriesOnlyOrderId, judgePayments } from "./payments.ts";
import type { BitcoinOutput, BitcoinTransaction } from "./answers/raw-transaction.ts";
import { scriptOf } from "./address-codec/scripts.ts";

export interface BitcoinRules {
  /** Addresses, the current depository first. */
  readonly addresses: readonly string[];
  /** Their scripts. */
  readonly depositories: ReadonlySet<string>;
  readonly network: BitcoinNetwork;
}

export interface SpendingTransaction {
  readonly transaction: BitcoinTransaction;
  /** The outputs that its inputs spend, in order; empty if {@link needsSpent} returns false. */
  readonly spent: readonly BitcoinOutput[];
  readonly block: { readonly time: bigint; readonly height: number };
}

export const bitcoin: Family<"bitcoin", BitcoinFacts, BitcoinRules, SpendingTransaction> = {
  id: "bitcoin",
  retryAfterSeconds: blockRetrySeconds,
  rules: (chain, { network }) => {
    const addresses = depositoriesOf(chain);
    return { addresses, depositories: new Set(addresses.map(scriptOf)), network };
  },
  deposits: (rules, { transaction, spent, block }) => {
    const judgment = judgeDeposit(rules, { transaction, spent });
    if ("refusal" in judgment) return refuted(judgment.refusal);
    const isDeposit = judgment.deposit !== undefined;
    return final({
      depository: depositoryOf(rules, isDeposit ? judgment.script : undefined),
      deposits: isDeposit ? [judgment.deposit] : [],
      timestamp: block.time,
      height: BigInt(block.height),
    });
  },
  payments: (rules, { transaction, spent, block }, question) =>
    paidIn(
      { timestamp: block.time, height: BigInt(block.height) },
      judgePayments(rules, { transaction, spent, timestamp: block.time }, question),
    ),
};

/** The address of a depository's script; the current depository if `script` is undefined. */
export function depositoryOf({ addresses }: BitcoinRules, script: string | undefined): string {
  return addresses.find((address) => scriptOf(address) === script) ?? currentFirst(addresses)[0];
}

/**
 * Whether judging a transaction requires the outputs that it spends. Clients may ask about any transaction,
 * and reading those outputs costs one call per input.
 */
export function needsSpent(
  { depositories }: BitcoinRules,
  transaction: BitcoinTransaction,
  question: PaymentQuestion | undefined,
): boolean {
  return question === undefined
    ? pays(depositories, transaction)
    : carriesOnlyOrderId(question.orderId, transaction);
}
