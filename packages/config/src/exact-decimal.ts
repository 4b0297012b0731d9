const DECIMAL = /^(\d+)(?:\.(\d+))?$/;

/**
 * Exact value of a plain decimal text scaled by 10^`decimals`; undefined when it is not one,
 * or has more digits after the point than the scale can hold: nothing is ever rounded.
 */
export function parseExactDecimal(text: string, decimals: number): bigint | undefined {
  const match = DECIMAL.exec(text);
  const whole = match?.[1];
  const fraction = match?.[2] ?? "";
  if (whole === undefined || fraction.length > decimals) return undefined;
  return BigInt(whole + fraction.padEnd(decimals, "0"));
}
