import type { QuoteInput } from "@causeway/wire";

const HASH = /^0x[0-9a-fA-F]{64}$/;
/** 78 digits may be too many for a uint256: the schema's to tell. */
const SAFE_AMOUNT = /^\d{1,77}$/;
const LONGEST_ADDRESS = 128;
/** Of other characters the schema says which are text. */
const PLAIN_REFERRER = /^[\x20-\x7e]{0,512}$/;

/** The query of a status, as `statusQuery` reads it, when it is a request id alone; otherwise undefined. */
export function plainStatusQuery(query: unknown): { requestId: string } | undefined {
  if (typeof query !== "object" || query === null) return undefined;
  for (const key in query) if (key !== "requestId") return undefined;
  const { requestId } = query as { readonly requestId?: unknown };
  return typeof requestId === "string" && HASH.test(requestId) ? { requestId } : undefined;
}

/**
 * The body of a quote, as `quoteRequest` reads it, when it is well formed and has only the fields that nearly
 * all have; otherwise undefined.
 */
export function plainQuoteBody(body: unknown): QuoteInput | undefined {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return undefined;
  for (const key in body) if (!isPlainField(key)) return undefined;
  const fields = body as Readonly<Record<keyof QuoteInput, unknown>>;
  const { user, originChainId, destinationChainId, originCurrency, destinationCurrency, amount } = fields;
  const { tradeType = "EXACT_INPUT", recipient, refundTo, referrer } = fields;
  if (
    !isAddress(user) ||
    !isChainId(originChainId) ||
    !isChainId(destinationChainId) ||
    !isAddress(originCurrency) ||
    !isAddress(destinationCurrency) ||
    typeof amount !== "string" ||
    !SAFE_AMOUNT.test(amount) ||
    (tradeType !== "EXACT_INPUT" && tradeType !== "EXPECTED_OUTPUT" && tradeType !== "EXACT_OUTPUT")
  )
    return undefined;
  const input: QuoteInput = {
    user,
    originChainId,
    destinationChainId,
    originCurrency,
    destinationCurrency,
    amount,
    tradeType,
  };
  if (recipient !== undefined) {
    if (!isAddress(recipient)) return undefined;
    input.recipient = recipient;
  }
  if (refundTo !== undefined) {
    if (!isAddress(refundTo)) return undefined;
    input.refundTo = refundTo;
  }
  if (referrer !== undefined) {
    if (typeof referrer !== "string" || !PLAIN_REFERRER.test(referrer)) return undefined;
    input.referrer = referrer;
  }
  return input;
}

function isPlainField(key: string): boolean {
  switch (key) {
    case "user":
    case "originChainId":
    case "destinationChainId":
    case "originCurrency":
    case "destinationCurrency":
    case "amount":
    case "tradeType":
    case "recipient":
    case "refundTo":
    case "referrer":
      return true;
    default:
      return false;
  }
}

function isAddress(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= LONGEST_ADDRESS;
}

function isChainId(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}
