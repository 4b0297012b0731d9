import fc from "fast-check";
import { expect, test } from "vitest";
import { amountToUsdDown, amountToUsdUp } from "../money/usd.ts";
import { inputAt, outputAt, parseFixedRate, rateDeviationBps } from "./fixed-rate.ts";
import { priceInput } from "./output-for-input.ts";

const USD = 10n ** 18n;
const unit = fc.record({
  decimals: fc.integer({ min: 0, max: 24 }),
  priceUsd: fc.bigInt({ min: 1n, max: 10n ** 25n }),
});
const anAmount = fc.bigInt({ min: 1n, max: 10n ** 30n });
const someRate = fc.record({
  input: fc.bigInt({ min: 1n, max: 10n ** 6n }),
  output: fc.bigInt({ min: 1n, max: 10n ** 6n }),
});
const plainFacts = fc.record({
  origin: unit,
  destination: unit,
  destinationNative: fc.record({
    decimals: fc.constant(18),
    priceUsd: fc.bigInt({ min: 1n, max: 10n ** 23n }),
  }),
  fillGasCostWei: fc.bigInt({ min: 0n, max: 10n ** 18n }),
  flatUsd: fc.bigInt({ min: 0n, max: 10n ** 18n }),
  serviceBps: fc.integer({ min: 0, max: 4_000 }),
  appBps: fc.integer({ min: 0, max: 4_000 }),
});

test("a fixed rate applies exactly in both directions, and the sponsor pays the difference", () => {
  fc.assert(
    fc.property(plainFacts, someRate, anAmount, (facts, rate, input) => {
      const quote = priceInput(input, { ...facts, sponsored: { kind: "fixedRate", rate } });
      const plain = priceInput(input, facts);
      if (quote.net > 0n) expect(quote.output).toBe(outputAt(rate, input, facts));
      // What the solver converts into the output is worth the output.
      if (quote.net > 0n)
        expect(
          amountToUsdUp(quote.net, facts.origin) >= amountToUsdDown(quote.output, facts.destination),
        ).toBe(true);
      if (quote.sponsored === 0n && plain.net > 0n) expect(quote.net).toBe(plain.net);
      const output = quote.output === 0n ? 1n : quote.output;
      const smallest = inputAt(rate, output, facts);
      expect(outputAt(rate, smallest, facts) >= output).toBe(true);
      expect(outputAt(rate, smallest - 1n, facts) < output).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

test("parses rates with decimals, and compares them with prices in bps", () => {
  expect(parseFixedRate("1:1")).toEqual({ input: 10n ** 30n, output: 10n ** 30n });
  expect(parseFixedRate("1:0.999")?.output).toBe(999n * 10n ** 27n);
  for (const text of ["0:1", "1:0", "1", "1:1:1", "a:b", "1:", "-1:1"])
    expect(parseFixedRate(text)).toBe(undefined);
  const sides = { origin: { decimals: 6, priceUsd: USD }, destination: { decimals: 18, priceUsd: USD } };
  expect(rateDeviationBps({ input: 1n, output: 1n }, sides)).toBe(0n);
  expect(rateDeviationBps({ input: 100n, output: 101n }, sides)).toBe(100n);
  expect(rateDeviationBps({ input: 100n, output: 99n }, sides)).toBe(100n);
});
