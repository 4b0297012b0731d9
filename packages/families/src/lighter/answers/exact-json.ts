/**
 * Parses JSON with integers as bigints, because Lighter writes amounts up to 2^60 as JSON numbers, which a
 * double cannot represent. Numbers with a fraction or an exponent stay doubles, so readers of an integer must
 * require a bigint.
 * @throws SyntaxError if `text` is not JSON
 */
export function parseExactJson(text: string): unknown {
  return JSON.parse(text, exactNumber);
}

/** `source` is the number's text; without it (in old runtimes), no number counts as exact. */
function exactNumber(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== "number" || context?.source === undefined) return value;
  return /^-?(?:0|[1-9]\d*)$/.test(context.source) ? BigInt(context.source) : value;
}
