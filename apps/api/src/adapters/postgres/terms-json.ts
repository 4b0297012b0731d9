import { orderText } from "@causeway/domain";
import type { OrderWords, RequestTerms } from "@causeway/domain";
import { jsonText } from "@causeway/service-kit";

const BIG = "$n";

/**
 * Terms as stored: JSON text, each bigint as `{"$n":"decimal"}`. The amounts are named one by one because asking about every value costs twice as
 * much; one that is not named makes `JSON.stringify` throw, so none can be lost.
 */
export function termsToJson(terms: RequestTerms): string {
  const { order, ...agreed } = terms;
  const { origin, destination } = terms;
  const text = JSON.stringify({
    ...agreed,
    origin: { ...origin, amount: big(origin.amount) },
    destination: {
      ...destination,
      expectedAmount: big(destination.expectedAmount),
      minimumAmount: big(destination.minimumAmount),
    },
    inputUsd: big(terms.inputUsd),
  });
  return `${text.slice(0, -1)},"order":${orderText(order, words)}}`;
}

const words: OrderWords<bigint> = { name: jsonText, amount: (amount) => `{"${BIG}":"${amount}"}` };

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
