import { formatAmount } from "../money/decimal-text.ts";
import { pow10 } from "../money/pow10.ts";

/**
 * Digits, and a point with digits behind it. No sign, no exponent, no grouping: what the exchange itself
 * accepts as an amount.
 */
const PLAIN = /^(\d{1,60})(?:\.(\d{1,60}))?$/;

/**
 * An amount as the exchange's actions write it (`"12.5"`), in smallest units, exact. Undefined when it is no
 * plain decimal text, or says more than `decimals` digits after the point can hold: such an amount must not
 * be rounded, for whoever rounds decides who loses. Zeros at the end say nothing and are accepted.
 */
export function parseExactAmount(text: string, decimals: number): bigint | undefined {
  const [, whole, fraction = ""] = PLAIN.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const kept = fraction.slice(0, decimals);
  if (/[1-9]/.test(fraction.slice(decimals))) return undefined;
  return BigInt(whole) * pow10(decimals) + BigInt(kept.padEnd(decimals, "0") || "0");
}

/**
 * The amount as an action writes it: no zeros at the end. Inverse of {@link parseExactAmount}.
 *
 * @throws RangeError for less than nothing
 */
export function exactAmountText(amount: bigint, decimals: number): string {
  if (amount < 0n) throw new RangeError(`amount must not be negative, got ${amount}`);
  return formatAmount(amount, decimals);
}
