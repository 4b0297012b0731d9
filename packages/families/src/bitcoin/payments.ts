import type { Hex32 } from "@causeway/domain";
import type { PaymentQuestion } from "../evidence.ts";
import { carriedTexts, idIn } from "./answers/carried-text.ts";
import { bitcoinCodec } from "./address-codec.ts";
import { pays } from "./deposits.ts";
import { HEADER_SKEW_SECONDS } from "./facts.ts";
import { isCoinbase, type BitcoinOutput, type BitcoinTransaction } from "./answers/raw-transaction.ts";
import { scriptOf } from "./address-codec/scripts.ts";
import { signsAllOutputs } from "./payments/sighash.ts";

/** Judges the payments of a solver's transaction. Pure. */

export interface PaymentRules {
  /** Scripts of every depository. */
  readonly depositories: ReadonlySet<string>;
}

/** A transaction in a final block. */
export interface PaymentFacts {
  readonly transaction: BitcoinTransaction;
  /** The outputs that its inputs spend, in order. */
  readonly spent: readonly BitcoinOutput[];
  /** Unix seconds of its block. */
  readonly timestamp: bigint;
}

export type PaymentJudgment = { readonly amounts: readonly bigint[] } | { readonly refusal: string };

/**
 * What each recipient was paid. The transaction's block must be in time, and the transaction must be for this
 * order alone: exactly one of its outputs carries an id, and that output's whole text is the order id.
 *
 * One payer must have signed all of it: all inputs spend the same script, which is not a recipient's, and
 * every signature covers all outputs. Otherwise, the transaction could be a recipient's own sale offer
 * (SIGHASH_SINGLE|ANYONECANPAY) that a buyer completed. A transaction from a depository is not a solver's
 * payment, and one to a depository is a deposit.
 *
 * @throws RangeError if the question contains a recipient and currency twice, because their outputs would be
 * indistinguishable
 */
export function judgePayments(
  { depositories }: PaymentRules,
  { transaction, spent, timestamp }: PaymentFacts,
  question: PaymentQuestion,
): PaymentJudgment {
  const pairs = question.receipts.map(({ recipient, currency }) => `${recipient} ${currency}`);
  if (new Set(pairs).size !== pairs.length) throw new RangeError("duplicate pair of recipient and currency");
  // The header time of a block that was mined in time may be later than the deadline.
  if (timestamp > BigInt(question.deadline + HEADER_SKEW_SECONDS))
    return { refusal: `transaction was mined at ${timestamp}, after the deadline ${question.deadline}` };
  if (question.calls.length > 0) return { refusal: "order has calls, but this chain does not support calls" };
  if (isCoinbase(transaction)) return { refusal: "a coinbase transaction cannot be a payment" };
  if (spent.some(({ script }) => depositories.has(script)))
    return { refusal: "transaction spends outputs of a depository" };
  // Deposits carry the order id too, and their change does not count as a payment.
  if (pays(depositories, transaction))
    return { refusal: "transaction pays a depository, so it is a deposit" };
  if (!carriesOnlyOrderId(question.orderId, transaction))
    return { refusal: "transaction must carry the order id and nothing else in OP_RETURN" };
  const [payer] = spent;
  if (payer === undefined || spent.some(({ script }) => script !== payer.script))
    return { refusal: "transaction spends outputs of several addresses, so the payer is ambiguous" };
  if (!transaction.unlocking.every((unlocking) => signsAllOutputs(unlocking, payer.script)))
    return { refusal: "a signature does not cover all outputs, so others could have added the order id" };

  const amounts: bigint[] = [];
  for (const { recipient, currency } of question.receipts) {
    const script = scriptOf(recipient);
    if (depositories.has(script)) return { refusal: "recipient of a payment must not be a depository" };
    if (script === payer.script) return { refusal: "recipient must differ from the payer" };
    amounts.push(currency === bitcoinCodec.nativeCurrency ? sumTo(script, transaction.outputs) : 0n);
  }
  return { amounts };
}

/** Whether exactly one output carries an id, and its whole text is this order id. */
export function carriesOnlyOrderId(
  orderId: Hex32,
  { outputs }: Pick<BitcoinTransaction, "outputs">,
): boolean {
  const [only, ...otherTexts] = carriedTexts(outputs).filter((text) => idIn(text) !== undefined);
  return otherTexts.length === 0 && only?.text === orderId;
}

function sumTo(script: string, outputs: readonly BitcoinOutput[]): bigint {
  return outputs.reduce((sum, output) => (output.script === script ? sum + output.amount : sum), 0n);
}
