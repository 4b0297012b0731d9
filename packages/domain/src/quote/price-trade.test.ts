import fc from "fast-check";
import { expect, test } from "vitest";
import { ServiceError } from "../errors.ts";
import { amountToUsdDown } from "../money/usd.ts";
import { pow10 } from "../money/pow10.ts";
import { priceInput } from "./output-for-input.ts";
import type { PricingFacts } from "./output-for-input.ts";
import { inputForOutput } from "./input-for-output.ts";
import { priceTrade } from "./price-trade.ts";

const unit = fc.record({
  decimals: fc.integer({ min: 0, max: 24 }),
  priceUsd: fc.bigInt({ min: 1n, max: 10n ** 25n }),
});
const someFacts: fc.Arbitrary<PricingFacts> = fc.record({
  origin: unit,
  destination: unit,
  destinationNative: fc.record({
    decimals: fc.constant(18),
    priceUsd: fc.bigInt({ min: 1n, max: 10n ** 23n }),
  }),
  fillGasCostWei: fc.bigInt({ min: 0n, max: 10n ** 18n }),
  flatUsd: fc.bigInt({ min: 0n, max: 10n ** 18n }),
  serviceBps: fc.integer({ min: 0, max: 5_000 }),
  appBps: fc.integer({ min: 0, max: 4_900 }),
});
const anAmount = fc.bigInt({ min: 1n, max: 10n ** 30n });

test("the input for an output is the smallest that yields it", () => {
  fc.assert(
    fc.property(someFacts, anAmount, (facts, output) => {
      const input = inputForOutput(output, facts);
      expect(priceInput(input, facts).output >= output).toBe(true);
      expect(priceInput(input - 1n, facts).output < output).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

test("more input never buys less output", () => {
  fc.assert(
    fc.property(someFacts, anAmount, fc.bigInt({ min: 1n, max: 3n }), (facts, input, more) => {
      expect(priceInput(input + more, facts).output >= priceInput(input, facts).output).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

test("fees and net amount add up to the input, if the input covers its fees", () => {
  fc.assert(
    fc.property(someFacts, anAmount, (facts, input) => {
      const { execution, service, app, net, output } = priceInput(input, facts);
      if (net > 0n) expect(net + execution + service + app).toBe(input);
      else expect(output).toBe(0n);
      // The output is never worth more than what was left of the input.
      expect(amountToUsdDown(output, facts.destination) <= amountToUsdDown(net, facts.origin)).toBe(true);
    }),
  );
});

const usdc = { decimals: 6, priceUsd: pow10(18) };
const eth = { decimals: 18, priceUsd: 2_000n * pow10(18) };
const facts: PricingFacts = {
  origin: usdc,
  destination: eth,
  destinationNative: eth,
  fillGasCostWei: 10_000_000_000_000n, // $0.02
  flatUsd: 2n * pow10(16), // $0.02
  serviceBps: 6,
  appBps: 0,
};

test("an input of 100 USD pays the flat fee, gas and 6 bps, and the rest is converted", () => {
  expect(priceInput(100_000_000n, facts)).toEqual({
    input: 100_000_000n,
    execution: 40_000n,
    service: 60_000n,
    app: 0n,
    net: 99_900_000n,
    output: 49_950_000_000_000_000n,
  });
});

test("refuses an exact input below its fees and names the minimum", () => {
  let refusal: unknown;
  try {
    priceTrade("EXACT_INPUT", 40_000n, facts, "USDC");
  } catch (error) {
    refusal = error;
  }
  expect(refusal).toBeInstanceOf(ServiceError);
  const { code, facts: refusalFacts } = refusal as ServiceError;
  expect(code).toBe("AMOUNT_TOO_LOW");
  const minimum = BigInt((refusalFacts.data as { minimumAmount: string }).minimumAmount);
  expect(priceTrade("EXACT_INPUT", minimum, facts, "USDC").expected > 0n).toBe(true);
  expect(() => priceTrade("EXACT_INPUT", minimum - 1n, facts, "USDC")).toThrow(ServiceError);
});

test("the output trade types expect exactly the requested amount", () => {
  for (const tradeType of ["EXPECTED_OUTPUT", "EXACT_OUTPUT"] as const) {
    const trade = priceTrade(tradeType, 123_456_789_012_345n, facts, "USDC");
    expect(trade.expected).toBe(123_456_789_012_345n);
    expect(trade.output >= trade.expected).toBe(true);
  }
});
