import { decodeOrderCall, encodeOrderCall } from "@causeway/domain";
import type { OutputCalls, RequestTerms } from "@causeway/domain";

const AMOUNT = "$n";

type StoredCalls = Omit<OutputCalls, "calls"> & Partial<Pick<OutputCalls, "calls">>;

/**
 * Terms as stored: JSON text, each bigint as `{"$n":"decimal"}`. `origin` begins with chain, currency and
 * amount: statements on deposit addresses depend on that order.
 */
export function termsToJson(terms: RequestTerms): string {
  const { outputCalls, order, origin } = terms;
  const { chainId, currency, amount, ...rest } = origin;
  const stored = outputCalls && { outputCalls: withoutOrderCalls(outputCalls, order.output.calls) };
  return JSON.stringify(
    { ...terms, ...stored, origin: { chainId, currency, amount, ...rest } },
    (_key, value: unknown) => (typeof value === "bigint" ? { [AMOUNT]: value.toString() } : value),
  );
}

/** Reads what {@link termsToJson} wrote. */
export function termsFromJson(text: string): RequestTerms {
  const { outputCalls, ...terms } = withAmounts(JSON.parse(text)) as Omit<RequestTerms, "outputCalls"> & {
    readonly outputCalls?: StoredCalls;
  };
  if (outputCalls === undefined) return terms;
  const calls = outputCalls.calls ?? terms.order.output.calls.map(decodeOrderCall);
  return { ...terms, outputCalls: { ...outputCalls, calls } };
}

/** Replaces stored amounts in place: a reviver of `JSON.parse` takes several times as long. */
function withAmounts(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (AMOUNT in value) return BigInt(String(value[AMOUNT]));
  for (const [key, part] of Object.entries(value))
    if (typeof part === "object" && part !== null) Reflect.set(value, key, withAmounts(part));
  return value;
}

/** Calls are stored once, with the order, because they can have 32 kB. */
function withoutOrderCalls(
  outputCalls: OutputCalls,
  encoded: RequestTerms["order"]["output"]["calls"],
): StoredCalls {
  const { calls, ...remaining } = outputCalls;
  const areOrderCalls =
    calls.length === encoded.length && calls.every((call, index) => encodeOrderCall(call) === encoded[index]);
  return areOrderCalls ? remaining : outputCalls;
}
