import type { Address } from "@causeway/domain";
import type { PaymentQuestion } from "../evidence.ts";
import type { HyperliquidTransaction } from "./answers.ts";
import { transferOf, type TransferRules } from "./payments/transfers.ts";

/** Judges what a solver's transaction paid. Pure. */

export interface PaymentRules extends TransferRules {
  readonly depositories: readonly Address[];
}

/**
 * What a transfer paid, or why it is not a payment. `amounts` has one entry per receipt of the question, in
 * base units. The caller must still check that the nonce of `payer` is mapped to the order.
 */
export type PaymentJudgment =
  | { readonly amounts: readonly bigint[]; readonly payer: Address; readonly nonce: bigint }
  | { readonly refusal: string };

/**
 * What each recipient received. A transaction on Hyperliquid is one transfer, so at most one recipient
 * received anything. Its block decides whether it was in time, not the nonce that its signer chose. The
 * sender must be neither a depository, which pays withdrawals, nor the recipient.
 *
 * @throws RangeError if the question contains a recipient and currency twice: their transfers would be
 * indistinguishable
 */
export function judgePayment(
  transaction: HyperliquidTransaction,
  rules: PaymentRules,
  question: PaymentQuestion,
): PaymentJudgment {
  const pairs = new Set(question.receipts.map(({ recipient, currency }) => `${recipient} ${currency}`));
  if (pairs.size !== question.receipts.length)
    throw new RangeError("duplicate pair of recipient and currency");
  const { action, user, error } = transaction;
  if (error !== undefined) return { refusal: "transaction failed" };
  if (action === undefined) return { refusal: "transaction makes no payment" };
  if (question.calls.length > 0)
    return { refusal: "order has calls, but Hyperliquid does not support calls" };
  const time = timestampOf(transaction);
  if (time > BigInt(question.deadline))
    return { refusal: `transaction was made at ${time}, after the deadline ${question.deadline}` };
  if (rules.depositories.includes(user))
    return { refusal: "a transfer out of a depository is not a solver payment" };
  const transfer = transferOf(action, rules);
  if ("refusal" in transfer) return transfer;
  const { destination, currency, amount, nonce } = transfer;
  if (rules.depositories.includes(destination))
    return { refusal: "recipient of a payment must not be a depository" };
  if (destination === user) return { refusal: "recipient must differ from the payer" };
  const amounts = question.receipts.map((receipt) =>
    receipt.recipient === destination && receipt.currency === currency ? amount : 0n,
  );
  return { amounts, payer: user, nonce };
}

/** Unix seconds of a transaction's block. */
export function timestampOf({ time }: Pick<HyperliquidTransaction, "time">): bigint {
  return time / 1_000n;
}
