import { parseDecimal } from "@causeway/domain";

const PLAIN = /^\d+(?:\.(\d+))?$/;

/**
 * Value of a plain decimal text scaled by 10^`decimals`; undefined if it has a sign, an exponent, or more
 * decimals than the scale: an operator's value is never rounded.
 */
export function parseExactDecimal(text: string, decimals: number): bigint | undefined {
  const match = PLAIN.exec(text);
  if (match === null || (match[1]?.length ?? 0) > decimals) return undefined;
  return parseDecimal(text, decimals);
}
