import { formatAmount } from "../money/decimal-text.ts";
import { pow10 } from "../money/pow10.ts";

/**
 * Digits, optionally with a decimal point and more digits; no sign, exponent or grouping. Hyperliquid accepts
 * no other form.
 */
const PLAIN = /^(\d{1,60})(?:\.(\d{1,60}))?$/;

/**
 * Parses an amount of a Hyperliquid action (`"12.5"`) exactly, in base units. Undefined if it is not plain
 * decimal text or has more than `decimals` digits after the point: rounding would favor one side. Trailing
 * zeros are accepted.
 */
export function parseExactAmount(text: string, decimals: number): bigint | undefined {
  const [, whole, fraction = ""] = PLAIN.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const digits = fraction.slice(0, decimals);
  if (/[1-9]/.test(fraction.slice(decimals))) return undefined;
  return BigInt(whole) * pow10(decimals) + BigInt(digits.padEnd(decimals, "0") || "0");
}

/**
 * Formats an amount for an action, without trailing zeros. Inverse of {@link parseExactAmount}.
 * @throws RangeError for a negative amount
 */
export function exactAmountText(amount: bigint, decimals: number): string {
  if (amount < 0n) throw new RangeError(`amount must not be negative, got ${amount}`);
  return formatAmount(amount, decimals);
}
