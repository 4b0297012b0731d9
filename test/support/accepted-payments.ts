import type { NonEvmAttempt, NonEvmPayment, PayingConnection } from "@causeway/chains";

/**
 * Asks a connection whether an attempt is its own payment, and whether it is each of several payments that
 * differ in one field.
 * @returns the names of the payments that it accepts
 */
export async function acceptedPayments(
  connection: Pick<PayingConnection, "isPayment">,
  attempt: NonEvmAttempt,
  payment: NonEvmPayment,
): Promise<readonly string[]> {
  const { recipient, amount } = payment;
  const otherEnding = recipient.endsWith("00") ? "11" : "00";
  const candidates: Record<string, readonly [NonEvmAttempt, NonEvmPayment]> = {
    itself: [attempt, payment],
    amount: [attempt, { ...payment, amount: amount + 1n }],
    recipient: [
      attempt,
      { ...payment, recipient: `${recipient.slice(0, -2)}${otherEnding}` as typeof recipient },
    ],
    id: [{ ...attempt, txId: `0x${"77".repeat(attempt.txId.length / 2 - 1)}` }, payment],
    // Families without room for the order id in a payment record it in a mapping.
    order: [attempt, { ...payment, orderId: `0x${"78".repeat(32)}` as NonNullable<typeof payment.orderId> }],
  };
  const accepted: string[] = [];
  for (const [name, [candidate, expectedPayment]] of Object.entries(candidates))
    if (await connection.isPayment(candidate, expectedPayment)) accepted.push(name);
  return accepted;
}
