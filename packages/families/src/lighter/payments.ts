import type { PaymentAnswer, PaymentQuestion } from "../evidence.ts";
import type { LighterTransaction } from "./answers.ts";
import { arrivalCurrency, isSpendable } from "./answers/currency.ts";

/** Judges the payments of a solver's transaction. Pure. */

export type PaymentJudgment = PaymentAnswer | { readonly refusal: string };

/**
 * What each recipient received by a settled transfer that was in time and whose memo is the order id. A
 * transfer pays one recipient in one currency, and for one order, because a memo contains one id. A transfer
 * from a depository is a withdrawal, regardless of its memo, and a transfer from an account to itself is not
 * a payment.
 *
 * The later of Lighter's two times decides: a transfer that was submitted in time but executed late is late.
 * @param depositories all depositories on Lighter
 * @throws RangeError if the question contains a recipient and currency twice
 */
export function judgePayments(
  depositories: readonly string[],
  {
    transfer,
    queuedAtMs,
    executedAtMs,
  }: Pick<LighterTransaction, "transfer" | "queuedAtMs" | "executedAtMs">,
  { orderId, deadline, receipts, calls }: PaymentQuestion,
): PaymentJudgment {
  const pairs = receipts.map(({ recipient, currency }) => `${recipient} ${currency}`);
  if (new Set(pairs).size !== pairs.length) throw new RangeError("duplicate pair of recipient and currency");
  const paidAtMs = executedAtMs > queuedAtMs ? executedAtMs : queuedAtMs;
  const timestamp = paidAtMs / 1_000n;
  if (paidAtMs > BigInt(deadline) * 1_000n)
    return { refusal: `transaction was made at ${timestamp}, after the deadline ${deadline}` };
  if (transfer === undefined) return { refusal: "transaction is not a transfer" };
  if (transfer.memo !== orderId) return { refusal: "memo of the transfer is not the order id" };
  if (calls.length > 0) return { refusal: "order has calls, but Lighter does not support calls" };
  const from = transfer.fromAccountIndex.toString();
  if (depositories.includes(from))
    return { refusal: "a transfer out of a depository is not a solver payment" };
  if (receipts.some(({ recipient }) => depositories.includes(recipient)))
    return { refusal: "recipient of a payment must not be a depository" };
  const to = transfer.toAccountIndex.toString();
  const amounts = receipts.map(({ recipient, currency }) =>
    recipient === to && from !== to && currency === arrivalCurrency(transfer) && isSpendable(transfer)
      ? transfer.amount
      : 0n,
  );
  return { amounts, timestamp };
}
