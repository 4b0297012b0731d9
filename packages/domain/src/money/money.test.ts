import fc from "fast-check";
import { formatUnits, parseUnits } from "viem";
import { expect, test } from "vitest";
import { bpsOfDown, bpsOfUp } from "./bps.ts";
import { formatAmount, formatFixed, formatPercent, formatUsd, parseDecimal } from "./decimal-text.ts";
import { divUp, mulDivDown, mulDivUp } from "./mul-div.ts";
import { pow10 } from "./pow10.ts";
import {
  amountToUsdDown,
  amountToUsdUp,
  convertDown,
  convertUp,
  usdToAmountDown,
  usdToAmountUp,
} from "./usd.ts";

const amount = fc.bigInt({ min: 0n, max: 1n << 130n });
const positive = fc.bigInt({ min: 1n, max: 1n << 100n });
const unit = fc.record({ decimals: fc.integer({ min: 0, max: 24 }), priceUsd: positive });

test("the two roundings enclose the exact quotient and differ by at most one", () => {
  fc.assert(
    fc.property(amount, positive, positive, (value, numerator, denominator) => {
      const down = mulDivDown(value, numerator, denominator);
      const up = mulDivUp(value, numerator, denominator);
      const exact = value * numerator;
      expect(down * denominator <= exact && exact <= up * denominator).toBe(true);
      expect(up - down).toBe(exact % denominator === 0n ? 0n : 1n);
    }),
  );
  expect(divUp(0n, 7n)).toBe(0n);
});

test("basis points of an amount round in the requested direction", () => {
  expect(bpsOfUp(1n, 1)).toBe(1n);
  expect(bpsOfDown(9_999n, 1)).toBe(0n);
  expect(bpsOfUp(10_000n, 6)).toBe(6n);
});

test("converting to another currency and back never gains", () => {
  fc.assert(
    fc.property(amount, unit, unit, (value, from, to) => {
      expect(convertDown(convertDown(value, from, to), to, from) <= value).toBe(true);
      expect(convertUp(convertUp(value, from, to), to, from) >= value).toBe(true);
    }),
  );
});

test("USD and amounts convert into each other within one rounding", () => {
  expect(amountToUsdDown(1_500_000n, { decimals: 6, priceUsd: pow10(18) })).toBe(15n * pow10(17));
  expect(usdToAmountUp(1n, { decimals: 6, priceUsd: pow10(18) })).toBe(1n);
  expect(usdToAmountDown(1n, { decimals: 6, priceUsd: pow10(18) })).toBe(0n);
  fc.assert(
    fc.property(amount, unit, (value, currency) => {
      expect(usdToAmountDown(amountToUsdDown(value, currency), currency) <= value).toBe(true);
      expect(usdToAmountUp(amountToUsdUp(value, currency), currency) >= value).toBe(true);
    }),
  );
});

test("formats amounts like viem", () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: -(1n << 90n), max: 1n << 90n }),
      fc.integer({ min: 0, max: 30 }),
      (value, decimals) => {
        expect(formatAmount(value, decimals)).toBe(formatUnits(value, decimals));
      },
    ),
  );
  expect(formatAmount(1_000_000n, 6)).toBe("1");
  expect(formatAmount(1n, 18)).toBe("0.000000000000000001");
});

test("USD has six decimals, is truncated and may be negative", () => {
  expect(formatUsd(-25n * pow10(15))).toBe("-0.025000");
  expect(formatUsd(1_999_999n * pow10(12) + 999n)).toBe("1.999999");
  expect(formatUsd(-1n)).toBe("0.000000");
  expect(formatFixed(5n, 0, 2)).toBe("5.00");
});

test("percentages have two decimals, and a zero whole gives zero", () => {
  expect(formatPercent(-35n, 1000n)).toBe("-3.50");
  expect(formatPercent(1n, 3n)).toBe("33.33");
  expect(formatPercent(1n, 0n)).toBe("0.00");
});

test("parses decimal texts without loss, with exponents, and truncates surplus digits", () => {
  expect(parseDecimal("1e-7", 18)).toBe(pow10(11));
  expect(parseDecimal("0.1", 18)).toBe(pow10(17));
  expect(parseDecimal("-2.5E+3", 2)).toBe(-250_000n);
  expect(parseDecimal("1.999", 2)).toBe(199n);
  expect(parseDecimal("1e-300", 18)).toBe(0n);
  for (const bad of ["", ".", "-", "1,5", "0x10", "1e", "NaN", "1e999", " 1"])
    expect(parseDecimal(bad, 18), bad).toBeUndefined();
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 1n << 100n }), (value) => {
      expect(parseDecimal(formatUnits(value, 18), 18)).toBe(parseUnits(formatUnits(value, 18), 18));
    }),
  );
});
