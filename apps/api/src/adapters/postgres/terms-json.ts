import type { Order, RequestTerms } from "@causeway/domain";

const BIG = "$n";

/**
 * Terms as stored: JSON text, each bigint as `{"$n":"decimal"}`. The amounts are named one by one because asking about every value costs twice as
 * much; one that is not named makes `JSON.stringify` throw, so none can be lost.
 */
export function termsToJson(terms: RequestTerms): string {
  const { origin, destination } = terms;
  return JSON.stringify({
    ...terms,
    origin: { ...origin, amount: big(origin.amount) },
    destination: {
      ...destination,
      expectedAmount: big(destination.expectedAmount),
      minimumAmount: big(destination.minimumAmount),
    },
    inputUsd: big(terms.inputUsd),
    order: orderWithBigs(terms.order),
  });
}

function orderWithBigs(order: Order): object {
  return {
    ...order,
    inputs: order.inputs.map((input) => ({
      ...input,
      payment: { ...input.payment, amount: big(input.payment.amount), weight: big(input.payment.weight) },
      refunds: input.refunds.map((refund) => ({ ...refund, minimumAmount: big(refund.minimumAmount) })),
    })),
    output: {
      ...order.output,
      payments: order.output.payments.map((payment) => ({
        ...payment,
        minimumAmount: big(payment.minimumAmount),
        expectedAmount: big(payment.expectedAmount),
      })),
    },
    fees: order.fees.map((fee) => ({ ...fee, amount: big(fee.amount) })),
  };
}

function big(value: bigint): { readonly [BIG]: string } {
  return { [BIG]: value.toString() };
}

/** Reads what {@link termsToJson} wrote. */
export function termsFromJson(text: string): RequestTerms {
  return JSON.parse(text, (_key, value: unknown) => {
    if (typeof value === "object" && value !== null && BIG in value) return BigInt(String(value[BIG]));
    return value;
  }) as RequestTerms;
}
