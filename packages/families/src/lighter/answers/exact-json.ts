/**
 * JSON whose whole numbers are bigints, exact to the last digit: Lighter writes amounts up to 2^60 as plain
 * JSON numbers, of which a double keeps 53 bits. Numbers with a fraction or an exponent stay doubles, so the
 * reader of a whole number must ask for a bigint.
 * @throws SyntaxError when `text` is not JSON
 */
export function parseExactJson(text: string): unknown {
  return JSON.parse(text, exactNumber);
}

/** `source` is the number as written; without it (an old runtime) no number counts as exact. */
function exactNumber(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== "number" || context?.source === undefined) return value;
  return /^-?(?:0|[1-9]\d*)$/.test(context.source) ? BigInt(context.source) : value;
}
