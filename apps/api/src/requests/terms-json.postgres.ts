import { decodeOrderCall, encodeOrderCall, orderText } from "@causeway/domain";
import type { OrderWords, OutputCalls, RequestTerms } from "@causeway/domain";
import { jsonText } from "@causeway/service-kit";
import type { NothingLeft } from "@causeway/service-kit";
import { shortOrderJson, wholeOrder } from "./short-order.postgres.ts";

const BIG = "$n";

true satisfies NothingLeft<RequestTerms["origin"], "chainId" | "currency" | "amount" | "minimumAmount">;
true satisfies NothingLeft<NonNullable<RequestTerms["input"]>, "currency" | "amount">;
true satisfies NothingLeft<
  RequestTerms["destination"],
  "chainId" | "currency" | "expectedAmount" | "minimumAmount" | "paidFrom"
>;

/**
 * Terms as stored: JSON text, each bigint as `{"$n":"decimal"}`; an order that says no more than its terms is
 * shortened. The fields that all terms have are written out by hand, which takes a fraction of
 * `JSON.stringify`; what is not named goes through it, and it throws on an amount, so none can be lost.
 */
export function termsToJson(terms: RequestTerms): string {
  const { order, origin, destination } = terms;
  let text =
    `{"requestId":"${terms.requestId}","orderId":"${terms.orderId}","kind":"${terms.kind}","tradeType":"${terms.tradeType}",` +
    `"user":"${terms.user}","recipient":"${terms.recipient}","refundTo":"${terms.refundTo}",` +
    `"origin":{"chainId":${origin.chainId},"currency":"${origin.currency}","amount":${big(origin.amount)}${
      origin.minimumAmount === undefined ? "" : `,"minimumAmount":${big(origin.minimumAmount)}`
    }},` +
    `"destination":{"chainId":${destination.chainId},"currency":"${destination.currency}",` +
    `"expectedAmount":${big(destination.expectedAmount)},"minimumAmount":${big(destination.minimumAmount)}${
      destination.paidFrom === undefined ? "" : `,"paidFrom":"${destination.paidFrom}"`
    }},` +
    `"inputUsd":${big(terms.inputUsd)},"explicitDeposit":${terms.explicitDeposit},"createdAtMs":${terms.createdAtMs},` +
    `"firmUntilMs":${terms.firmUntilMs},"fillDeadlineMs":${terms.fillDeadlineMs},"forceRefund":${terms.forceRefund}`;
  if (terms.input !== undefined)
    text += `,"input":{"currency":"${terms.input.currency}","amount":${big(terms.input.amount)}}`;
  if (terms.permit !== undefined) text += `,"permit":${JSON.stringify(terms.permit, withAmounts)}`;
  if (terms.originGasUsd !== undefined) text += `,"originGasUsd":${big(terms.originGasUsd)}`;
  for (const name of rarelyThere)
    if (terms[name] !== undefined) text += `,"${name}":${JSON.stringify(terms[name], withAmounts)}`;
  if (terms.outputCalls !== undefined)
    text += `,"outputCalls":${JSON.stringify(withoutOrderCalls(terms.outputCalls, order.output.calls), withAmounts)}`;
  for (const name in terms)
    if (!written.has(name)) {
      const json = JSON.stringify(terms[name as keyof RequestTerms]) as string | undefined;
      if (json !== undefined) text += `,${jsonText(name)}:${json}`;
    }
  return `${text},"order":${shortOrderJson(order, terms) ?? orderText(order, words)}}`;
}

/** Fields with amounts in them that few terms have. */
const rarelyThere = ["appFees", "appFeesUsd", "sponsorship", "gasTopup"] as const;

/** The fields above. Hex, words of ours and numbers: nothing to escape. */
const written: ReadonlySet<string> = new Set<keyof RequestTerms>([
  "requestId",
  "orderId",
  "kind",
  "tradeType",
  "user",
  "recipient",
  "refundTo",
  "origin",
  "input",
  "destination",
  "inputUsd",
  "originGasUsd",
  "permit",
  "explicitDeposit",
  "createdAtMs",
  "firmUntilMs",
  "fillDeadlineMs",
  "forceRefund",
  "outputCalls",
  "order",
  ...rarelyThere,
]);

const words: OrderWords<bigint> = { name: jsonText, amount: big };

function big(value: bigint): string {
  return `{"${BIG}":"${value}"}`;
}

function withAmounts(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? { [BIG]: value.toString() } : value;
}

/** Reads what {@link termsToJson} wrote. */
export function termsFromJson(text: string): RequestTerms {
  const terms = JSON.parse(text, (_key, value: unknown) => {
    if (typeof value === "object" && value !== null && BIG in value) return BigInt(String(value[BIG]));
    return value;
  }) as RequestTerms;
  const order = wholeOrder(terms.order, terms);
  return {
    ...terms,
    ...(terms.outputCalls && { outputCalls: withOrderCalls(terms.outputCalls, order.output.calls) }),
    order,
  };
}

/** Calls of an order are stored with the order alone: they can be 32 kB. */
function withoutOrderCalls(
  outputCalls: OutputCalls,
  encoded: RequestTerms["order"]["output"]["calls"],
): Omit<OutputCalls, "calls"> {
  const { calls, ...others } = outputCalls;
  const isOfOrder =
    calls.length === encoded.length && calls.every((call, at) => encodeOrderCall(call) === encoded[at]);
  return isOfOrder ? others : outputCalls;
}

/** Rows that were stored before hold the calls twice. */
function withOrderCalls(
  stored: Omit<OutputCalls, "calls"> & Partial<Pick<OutputCalls, "calls">>,
  encoded: RequestTerms["order"]["output"]["calls"],
): OutputCalls {
  return { ...stored, calls: stored.calls ?? encoded.map(decodeOrderCall) };
}
