import fc from "fast-check";
import { expect, test } from "vitest";
import { exactAmountText, parseExactAmount } from "./exact-amount.ts";

const decimals = fc.integer({ min: 0, max: 18 });
const units = fc.bigInt({ min: 0n, max: 10n ** 40n });

test("formatting and parsing returns the same amount, at any number of decimals", () => {
  fc.assert(
    fc.property(units, decimals, (amount, digits) => {
      expect(parseExactAmount(exactAmountText(amount, digits), digits)).toBe(amount);
    }),
  );
});

test("refuses a text with more digits than the currency has instead of rounding it", () => {
  fc.assert(
    fc.property(units, decimals, fc.integer({ min: 1, max: 9 }), (amount, digits, last) => {
      const fraction = (amount % 10n ** BigInt(digits)).toString().padStart(digits, "0");
      const text = `${amount}.${digits === 0 ? "" : fraction}${last}`;
      expect(parseExactAmount(text, digits)).toBeUndefined();
    }),
  );
  expect(parseExactAmount("0.005", 2)).toBeUndefined();
  expect(parseExactAmount("0.5", 0)).toBeUndefined();
  expect(parseExactAmount("1.999999999", 8)).toBeUndefined();
});

test("ignores trailing zeros", () => {
  expect(parseExactAmount("1.500000000000", 8)).toBe(150_000_000n);
  expect(parseExactAmount("7.000", 0)).toBe(7n);
  expect(parseExactAmount("007.10", 2)).toBe(710n);
});

test("refuses unusual formats that a number parser would accept", () => {
  for (const text of [
    "",
    ".",
    "1.",
    ".5",
    "-1",
    "+1",
    "1e3",
    "1E-2",
    "0x10",
    "1_000",
    "1,5",
    " 1",
    "1 ",
    "1\n",
    "NaN",
    "Infinity",
    "１",
    `${"9".repeat(61)}`,
  ])
    expect(parseExactAmount(text, 8), JSON.stringify(text)).toBeUndefined();
});

test("refuses to format a negative amount", () => {
  expect(() => exactAmountText(-1n, 8)).toThrow(RangeError);
});
