import type { RequestTerms } from "@causeway/domain";

const BIG = "$n";

/** Terms as stored: JSON text, each bigint as `{"$n":"decimal"}`. */
export function termsToJson(terms: RequestTerms): string {
  return JSON.stringify(terms, (_key, value: unknown) =>
    typeof value === "bigint" ? { [BIG]: value.toString() } : value,
  );
}

/** Reads what {@link termsToJson} wrote. */
export function termsFromJson(text: string): RequestTerms {
  return JSON.parse(text, (_key, value: unknown) => {
    if (typeof value === "object" && value !== null && BIG in value) return BigInt(String(value[BIG]));
    return value;
  }) as RequestTerms;
}
