import fc from "fast-check";
import { expect, test } from "vitest";
import type { FeesSponsored } from "./fees-sponsored.ts";
import { inputForOutput } from "./input-for-output.ts";
import { priceInput } from "./output-for-input.ts";
import type { PricingFacts } from "./output-for-input.ts";

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
const components: fc.Arbitrary<Extract<FeesSponsored, { kind: "components" }>> = fc.record({
  kind: fc.constant("components" as const),
  execution: fc.boolean(),
  service: fc.boolean(),
  app: fc.boolean(),
  swap: fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 10n ** 20n })),
  cap: fc.option(fc.bigInt({ min: 0n, max: 10n ** 24n }), { nil: undefined }),
});
const sponsored: fc.Arbitrary<FeesSponsored> = fc.oneof(
  components,
  fc.record({ kind: fc.constant("agreed" as const), amount: fc.bigInt({ min: 0n, max: 10n ** 24n }) }),
  fc.record({ kind: fc.constant("fixedRate" as const), rate: someRate }),
);
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
const topupWei = fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 10n ** 18n }));
const someFacts: fc.Arbitrary<PricingFacts> = fc
  .tuple(plainFacts, sponsored, topupWei)
  .map(([facts, sponsoredAmount, wei]) => ({
    ...facts,
    sponsored: sponsoredAmount,
    topupWei: wei,
    topupBps: 31,
  }));

test("with or without a sponsor, the input for an output is the smallest that yields it", () => {
  fc.assert(
    fc.property(someFacts, anAmount, (facts, output) => {
      const input = inputForOutput(output, facts);
      expect(priceInput(input, facts).output >= output).toBe(true);
      // A zero input buys nothing, however much a sponsor pays.
      if (input > 1n) expect(priceInput(input - 1n, facts).output < output).toBe(true);
    }),
    { numRuns: 3_000 },
  );
});

test("with or without a sponsor, more input never buys less", () => {
  fc.assert(
    fc.property(someFacts, anAmount, fc.bigInt({ min: 1n, max: 3n }), (facts, input, more) => {
      expect(priceInput(input + more, facts).output >= priceInput(input, facts).output).toBe(true);
    }),
    { numRuns: 3_000 },
  );
});

test("divides the input plus the sponsor's part into fees, gas top-up and net output", () => {
  fc.assert(
    fc.property(someFacts, anAmount, (facts, input) => {
      const { execution, service, app, net, topup, sponsored: sponsoredAmount } = priceInput(input, facts);
      if (net > 0n) expect(net + execution + service + app + topup!).toBe(input + sponsoredAmount!);
    }),
    { numRuns: 2_000 },
  );
});

test("a sponsor pays the selected fees and never more than the cap", () => {
  fc.assert(
    fc.property(plainFacts, components, anAmount, (facts, selection, input) => {
      const {
        execution,
        service,
        app,
        sponsored: sponsoredAmount,
      } = priceInput(input, { ...facts, sponsored: selection });
      const requested =
        (selection.execution ? execution : 0n) +
        (selection.service ? service : 0n) +
        (selection.app ? app : 0n) +
        selection.swap;
      if (selection.cap !== undefined) expect(sponsoredAmount! <= selection.cap).toBe(true);
      const max = selection.cap === undefined || requested < selection.cap ? requested : selection.cap;
      // The two bps fees are rounded together: a unit of one alone may belong to the other.
      expect(sponsoredAmount! >= max - 1n && sponsoredAmount! <= requested + 1n).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test("if every fee is sponsored, the output is worth exactly the input", () => {
  const usdc = { decimals: 6, priceUsd: USD };
  const facts: PricingFacts = {
    origin: usdc,
    destination: usdc,
    destinationNative: { decimals: 18, priceUsd: 2_000n * USD },
    fillGasCostWei: 10_000_000_000_000n,
    flatUsd: USD / 50n,
    serviceBps: 1,
    appBps: 25,
    sponsored: { kind: "components", execution: true, service: true, app: true, swap: 0n, cap: undefined },
  };
  expect(priceInput(100_000_000n, facts)).toMatchObject({
    execution: 40_000n,
    service: 10_000n,
    app: 250_000n,
    sponsored: 300_000n,
    output: 100_000_000n,
  });
  expect(inputForOutput(100_000_000n, facts)).toBe(100_000_000n);
});
