import { parseDecimal } from "@causeway/domain";

const PLAIN = /^\d+(?:\.(\d+))?$/;

/**
 * Value of a plain decimal text scaled by 10^`decimals`; undefined when it has a sign or an exponent,
 * or more digits after the point than the scale can hold: what an operator wrote is never rounded.
 */
export function parseExactDecimal(text: string, decimals: number): bigint | undefined {
  const match = PLAIN.exec(text);
  if (match === null || (match[1]?.length ?? 0) > decimals) return undefined;
  return parseDecimal(text, decimals);
}
