import fc from "fast-check";
import { expect, test } from "vitest";
import { formatUsd, parseDecimal } from "../money/decimal-text.ts";
import { pow10 } from "../money/pow10.ts";
import { amountToUsdDown } from "../money/usd.ts";
import { tradeImpact, tradeRate } from "./impact.ts";

const usdc = { decimals: 6, priceUsd: pow10(18) };
const eth = { decimals: 18, priceUsd: 2_000n * pow10(18) };

test("impacts are negative six-decimal USD and divide the loss into its causes", () => {
  const trade = {
    input: 100_000_000n,
    execution: 40_000n,
    service: 60_000n,
    app: 10_000n,
    expected: 49_900_000_000_000_000n,
  };
  expect(tradeImpact(trade, usdc, eth)).toEqual({
    totalImpact: { usd: "-0.200000", percent: "-0.20" },
    swapImpact: { usd: "-0.090000", percent: "-0.09" },
    expandedPriceImpact: {
      swap: { usd: "-0.090000" },
      execution: { usd: "-0.040000" },
      service: { usd: "-0.060000" },
      relay: { usd: "-0.060000" },
      app: { usd: "-0.010000" },
      sponsored: { usd: "0.000000" },
    },
  });
});

test("the displayed parts of the impact add up to the total, which equals output value minus input value", () => {
  const amount = fc.bigInt({ min: 0n, max: 10n ** 15n });
  fc.assert(
    fc.property(amount, amount, amount, amount, amount, (input, execution, service, app, expected) => {
      const impact = tradeImpact({ input, execution, service, app, expected }, usdc, eth);
      const micro = (text: string) => parseDecimal(text, 6)!;
      const parts = impact.expandedPriceImpact;
      const sum = [parts.swap, parts.execution, parts.service, parts.app].reduce(
        (total, part) => total + micro(part.usd),
        0n,
      );
      expect(sum).toBe(micro(impact.totalImpact.usd));
      const written = (value: bigint, unit: typeof usdc) => micro(formatUsd(amountToUsdDown(value, unit)));
      expect(micro(impact.totalImpact.usd)).toBe(written(expected, eth) - written(input, usdc));
    }),
  );
});

test("without a swap the rounding remainder counts as execution, and the parts still add up", () => {
  const trade = { input: 100_000_000n, execution: 40_000n, service: 60_000n, app: 0n, expected: 99_899_999n };
  const { swapImpact, expandedPriceImpact, totalImpact } = tradeImpact(
    { ...trade, hasSwap: false },
    usdc,
    usdc,
  );
  expect(swapImpact).toEqual({ usd: "0.000000", percent: "0.00" });
  expect(expandedPriceImpact).toMatchObject({
    swap: { usd: "0.000000" },
    execution: { usd: "-0.040001" },
    service: { usd: "-0.060000" },
  });
  expect(totalImpact.usd).toBe("-0.100001");
  expect(tradeImpact(trade, usdc, usdc).expandedPriceImpact).toMatchObject({
    swap: { usd: "-0.000001" },
    execution: { usd: "-0.040000" },
  });
});

test("the rate is output per input in whole tokens", () => {
  expect(tradeRate(2_000_000n, 6, 10n ** 15n, 18)).toBe("0.0005");
  expect(tradeRate(10n ** 18n, 18, 20_000_000n, 6)).toBe("20");
  expect(tradeRate(3n, 0, 1n, 0)).toBe("0.333333333333333333");
  expect(tradeRate(0n, 6, 0n, 6)).toBe("0");
});

test("fees are valued in the currency in which they are charged, and an unknown price is not a loss", () => {
  const trade = { input: 10n ** 18n, execution: 40_000n, service: 60_000n, app: 0n, expected: 10n ** 18n };
  const impact = tradeImpact(trade, eth, eth, usdc);
  expect(impact.expandedPriceImpact).toMatchObject({
    execution: { usd: "-0.040000" },
    service: { usd: "-0.060000" },
    swap: { usd: "0.100000" },
  });
  const unknown = tradeImpact(trade, { decimals: 18, priceUsd: 0n }, eth, usdc);
  expect(unknown.totalImpact).toEqual({ usd: "-0.100000", percent: "0.00" });
  expect(unknown.swapImpact).toEqual({ usd: "0.000000", percent: "0.00" });
  expect(tradeImpact(trade, eth, { decimals: 18, priceUsd: 0n }, usdc).swapImpact.usd).toBe("0.000000");
});
