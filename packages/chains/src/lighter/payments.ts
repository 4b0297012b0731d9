import type { PaymentAnswer, PaymentQuestion } from "../evidence.ts";
import type { ExchangeTransaction } from "./answers.ts";
import { arrivesIn, isSpendable } from "./currency.ts";

/** Judges what a solver's transaction paid. Pure. */

export type PaymentJudgement = PaymentAnswer | { readonly refusal: string };

/**
 * What each recipient received by a settled transfer that came in time and whose memo is the order's id. One transfer pays one recipient in one currency; a memo holds
 * one id, so it pays one order. What leaves a depository is a withdrawal, whatever its memo says, and what an account sends to itself pays nobody.
 *
 * In time is by the exchange's clock, by the later of its two times: what was handed over early and took effect late is late.
 * @param depositories all accounts of ours on this exchange
 * @throws RangeError when the question names a recipient and currency twice
 */
export function judgePayments(
  depositories: readonly string[],
  {
    transfer,
    queuedAtMs,
    executedAtMs,
  }: Pick<ExchangeTransaction, "transfer" | "queuedAtMs" | "executedAtMs">,
  { orderId, deadline, receipts, calls }: PaymentQuestion,
): PaymentJudgement {
  const pairs = receipts.map(({ recipient, currency }) => `${recipient} ${currency}`);
  if (new Set(pairs).size !== pairs.length)
    throw new RangeError("a recipient and currency is asked for twice");
  const paidAtMs = executedAtMs > queuedAtMs ? executedAtMs : queuedAtMs;
  const timestamp = paidAtMs / 1_000n;
  if (paidAtMs > BigInt(deadline) * 1_000n)
    return { refusal: `the transaction came at ${timestamp}, after the deadline ${deadline}` };
  if (transfer === undefined) return { refusal: "the transaction is no transfer" };
  if (transfer.memo !== orderId) return { refusal: "the transfer's memo is not the order's id" };
  if (calls.length > 0) return { refusal: "the exchange makes no calls" };
  const from = transfer.fromAccountIndex.toString();
  if (depositories.includes(from)) return { refusal: "what leaves a depository is no payment of a solver" };
  if (receipts.some(({ recipient }) => depositories.includes(recipient)))
    return { refusal: "a depository is no recipient of a payment" };
  const to = transfer.toAccountIndex.toString();
  const amounts = receipts.map(({ recipient, currency }) =>
    recipient === to && from !== to && currency === arrivesIn(transfer) && isSpendable(transfer)
      ? transfer.amount
      : 0n,
  );
  return { amounts, timestamp };
}
