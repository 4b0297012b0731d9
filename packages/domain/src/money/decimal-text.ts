import { pow10 } from "./pow10.ts";
import { USD_DECIMALS } from "./usd.ts";

/** Formats base units as decimal text without trailing zeros: `formatAmount(1500000n, 6)` is `"1.5"`. */
export function formatAmount(amount: bigint, decimals: number): string {
  const negative = amount < 0n;
  const digits = (negative ? -amount : amount).toString();
  const whole = digits.length > decimals ? digits.slice(0, digits.length - decimals) : "0";
  let end = digits.length;
  // Cut trailing zeros by index: a regular expression is measurable in a quote with a dozen amounts.
  const firstFraction = Math.max(0, digits.length - decimals);
  while (end > firstFraction && digits.charCodeAt(end - 1) === 48) end--;
  const fraction =
    end === firstFraction
      ? ""
      : "." + digits.slice(firstFraction, end).padStart(end - digits.length + decimals, "0");
  return (negative && amount !== 0n ? "-" : "") + whole + fraction;
}

/**
 * Formats `value` with exactly `shown` of its `decimals` digits after the point, truncated. A zero result has
 * no sign.
 */
export function formatFixed(value: bigint, decimals: number, shown: number): string {
  const cut = decimals > shown ? value / pow10(decimals - shown) : value * pow10(shown - decimals);
  const negative = cut < 0n;
  const digits = (negative ? -cut : cut).toString().padStart(shown + 1, "0");
  const point = digits.length - shown;
  const text = shown === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`;
  return negative ? `-${text}` : text;
}

/** USD with 18 decimals in API format: six decimals, negative for costs, truncated. */
export function formatUsd(usd: bigint): string {
  return formatFixed(usd, USD_DECIMALS, 6);
}

/** One micro-dollar, the smallest amount in API format, in USD with 18 decimals. */
const MICRO_USD = 10n ** 12n;

/**
 * USD with 18 decimals truncated to what {@link formatUsd} writes, so that sums of values match sums of
 * texts.
 */
export function toWrittenUsd(usd: bigint): bigint {
  return usd - (usd % MICRO_USD);
}

/**
 * `part / whole` as a percentage with two decimals, rounded half away from zero; `"0.00"` if the whole is
 * zero.
 */
export function formatPercent(part: bigint, whole: bigint): string {
  if (whole === 0n) return "0.00";
  const half = part < 0n === whole < 0n ? whole / 2n : -(whole / 2n);
  return formatFixed((part * 10_000n + half) / whole, 2, 2);
}

const DECIMAL = /^(-?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/;

/**
 * Parses decimal text (`"12.5"`, `"-0.1"`, `"1e-7"`) as an integer with `decimals` digits after the point;
 * further digits are truncated. Undefined if it is not a decimal number, or too large for any amount of money
 * (200 digits).
 */
export function parseDecimal(text: string, decimals: number): bigint | undefined {
  const match = DECIMAL.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = "", fraction = "", exponentText = "0"] = match;
  if (whole === "" && fraction === "") return undefined;
  const shift = Number(exponentText) + decimals - fraction.length;
  if (whole.length + fraction.length + Math.max(0, shift) > 200) return undefined;
  const digits = BigInt(whole + fraction);
  const magnitude = shift >= 0 ? digits * pow10(shift) : -shift > 200 ? 0n : digits / pow10(-shift);
  return sign === "-" ? -magnitude : magnitude;
}
