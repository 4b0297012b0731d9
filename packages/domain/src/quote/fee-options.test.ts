import fc from "fast-check";
import { expect, test } from "vitest";
import type { Address } from "../ids/hex.ts";
import { amountToUsdDown, amountToUsdUp } from "../money/usd.ts";
import { agreeAppFees, appBpsOf, appFeesUsd, dueAppFees, mergeAppFees } from "./app-fees.ts";
import { feeComponents, feeSponsorshipOf, feeSponsorshipText, transferredUsd } from "./fee-sponsorship.ts";
import type { FeesSponsored } from "./fees-sponsored.ts";
import { inputAt, outputAt, parseFixedRate, rateOffBps } from "./fixed-rate.ts";
import { forward } from "./output-for-input.ts";
import type { PricingFacts } from "./output-for-input.ts";
import { inputFor } from "./input-for-output.ts";

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
  fc.record({ kind: fc.constant("promised" as const), amount: fc.bigInt({ min: 0n, max: 10n ** 24n }) }),
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
  .map(([facts, paid, wei]) => ({ ...facts, sponsored: paid, topupWei: wei, topupBps: 31 }));

test("with or without a sponsor, the input for an output is the smallest that yields it", () => {
  fc.assert(
    fc.property(someFacts, anAmount, (facts, output) => {
      const input = inputFor(output, facts);
      expect(forward(input, facts).output >= output).toBe(true);
      // A zero input buys nothing, however much a sponsor pays.
      if (input > 1n) expect(forward(input - 1n, facts).output < output).toBe(true);
    }),
    { numRuns: 3_000 },
  );
});

test("with or without a sponsor, more input never buys less", () => {
  fc.assert(
    fc.property(someFacts, anAmount, fc.bigInt({ min: 1n, max: 3n }), (facts, input, more) => {
      expect(forward(input + more, facts).output >= forward(input, facts).output).toBe(true);
    }),
    { numRuns: 3_000 },
  );
});

test("splits the input plus the sponsor's part into fees, gas top-up and net output", () => {
  fc.assert(
    fc.property(someFacts, anAmount, (facts, input) => {
      const { execution, service, app, net, topup, sponsored: paid } = forward(input, facts);
      if (net > 0n) expect(net + execution + service + app + topup!).toBe(input + paid!);
    }),
    { numRuns: 2_000 },
  );
});

test("a sponsor pays the selected fees and never more than the cap", () => {
  fc.assert(
    fc.property(plainFacts, components, anAmount, (facts, named, input) => {
      const { execution, service, app, sponsored: paid } = forward(input, { ...facts, sponsored: named });
      const asked =
        (named.execution ? execution : 0n) +
        (named.service ? service : 0n) +
        (named.app ? app : 0n) +
        named.swap;
      if (named.cap !== undefined) expect(paid! <= named.cap).toBe(true);
      const max = named.cap === undefined || asked < named.cap ? asked : named.cap;
      // The two bps fees are rounded together: a unit of one alone may belong to the other.
      expect(paid! >= max - 1n && paid! <= asked + 1n).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test("with every fee sponsored the output is worth the input, to the unit", () => {
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
  expect(forward(100_000_000n, facts)).toMatchObject({
    execution: 40_000n,
    service: 10_000n,
    app: 250_000n,
    sponsored: 300_000n,
    output: 100_000_000n,
  });
  expect(inputFor(100_000_000n, facts)).toBe(100_000_000n);
});

test("a fixed rate holds to the unit in both directions, and the sponsor pays the difference", () => {
  fc.assert(
    fc.property(plainFacts, someRate, anAmount, (facts, rate, input) => {
      const quote = forward(input, { ...facts, sponsored: { kind: "fixedRate", rate } });
      const plain = forward(input, facts);
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
  expect(rateOffBps({ input: 1n, output: 1n }, sides)).toBe(0n);
  expect(rateOffBps({ input: 100n, output: 101n }, sides)).toBe(100n);
  expect(rateOffBps({ input: 100n, output: 99n }, sides)).toBe(100n);
});

const [one, two]: Address[] = [
  "0x1111111111111111111111111111111111111111",
  "0x2222222222222222222222222222222222222222",
];

test("drops zero app fees, and sums those of one recipient", () => {
  const fees = [
    { recipient: one!, bps: 10 },
    { recipient: two!, bps: 0 },
    { recipient: one!, bps: 5 },
  ];
  expect(mergeAppFees(fees)).toEqual([{ recipient: one, bps: 15 }]);
});

test("app fee credits are never worth more than what was taken of the deposit, whatever its size", () => {
  const fees = fc.array(
    fc.record({ recipient: fc.constantFrom(one!, two!), bps: fc.integer({ min: 0, max: 900 }) }),
    {
      maxLength: 5,
    },
  );
  fc.assert(
    fc.property(fees, anAmount, anAmount, unit, unit, (asked, agreed, came, deposited, balance) => {
      const merged = mergeAppFees(asked);
      const terms = { chainId: 1, currency: one!, fees: agreeAppFees(merged, agreed, deposited, balance) };
      const due = dueAppFees(terms, came, agreed, undefined);
      const sum = due.reduce((all, { amount }) => all + amount, 0n);
      const taken = (came * BigInt(appBpsOf(merged))) / 10_000n;
      expect(amountToUsdDown(sum, balance) <= amountToUsdDown(taken + 1n, deposited)).toBe(true);
      expect(dueAppFees(terms, agreed, agreed, { deposited, balance }).map(({ amount }) => amount)).toEqual(
        terms.fees.map(({ amount }) => amount),
      );
      expect(
        amountToUsdDown(
          terms.fees.reduce((all, { amount }) => all + amount, 0n),
          balance,
        ) <= appFeesUsd(merged, agreed, deposited),
      ).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

test("the written shares of a sponsorship add up to the written sum, and none exceeds its fee", () => {
  const usdc = { decimals: 6, priceUsd: (USD * 99_991n) / 100_000n };
  const part = fc.bigInt({ min: 0n, max: 10n ** 12n });
  const components = fc.uniqueArray(fc.constantFrom(...feeComponents));
  fc.assert(
    fc.property(
      part,
      part,
      part,
      part,
      components,
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.boolean(),
      (e, s, a, w, names, share, isRent) => {
        const selected = new Set(names);
        const cost = isRent ? { execution: 0n, rent: e } : { execution: e, rent: 0n };
        const totals = { ...cost, relay: s, app: a, swap: w };
        const asked = names.reduce((sum, name) => sum + totals[name], 0n);
        const paid = BigInt(Math.floor(Number(asked) * share));
        const agreed = feeSponsorshipOf(
          { wallet: one!, selected, maxUsd: 5n * USD, cap: paid, fixedRate: undefined },
          { execution: e, isRent, service: s, app: a, swap: w, sponsored: paid },
          usdc,
        );
        const shares = Object.entries(agreed.components);
        const sum = shares.reduce((usd, [, { sponsoredUsd }]) => usd + sponsoredUsd, 0n);
        expect(sum).toBe(agreed.usd - (agreed.usd % 10n ** 12n));
        for (const [, { totalUsd, sponsoredUsd, selected: is }] of shares) {
          expect(sponsoredUsd <= totalUsd).toBe(true);
          if (!is) expect(sponsoredUsd).toBe(0n);
        }
        expect(agreed.capHit).toBe(asked > paid);
        const text = feeSponsorshipText(agreed);
        expect(text.maxSubsidizationAmount).toBe("5000000");
        expect(Number(text.sponsoredTotal.usd)).toBeCloseTo(Number(agreed.usd) / 1e18, 5);
      },
    ),
  );
});

test("rent leaves the service, so that held and volatile balances do not pay it; plain gas does not", () => {
  const usdc = { decimals: 6, priceUsd: USD };
  const leaving = (isRent: boolean): bigint => {
    const request = { wallet: one!, selected: new Set(feeComponents), maxUsd: undefined, cap: undefined };
    const trade = { execution: 300_000n, isRent, service: 0n, app: 0n, swap: 0n, sponsored: 300_000n };
    const agreed = feeSponsorshipOf({ ...request, fixedRate: undefined }, trade, usdc);
    return transferredUsd(agreed, agreed.usd);
  };
  expect([leaving(true), leaving(false)]).toEqual([(USD * 3n) / 10n, 0n]);
});

test("what a rate needs beyond all fees counts as swap", () => {
  const usdc = { decimals: 6, priceUsd: USD };
  const rate = { input: 1n, output: 1n };
  const agreed = feeSponsorshipOf(
    { wallet: one!, selected: new Set(), maxUsd: undefined, cap: undefined, fixedRate: rate },
    { execution: 40_000n, isRent: false, service: 10_000n, app: 0n, swap: 0n, sponsored: 150_000n },
    usdc,
  );
  expect(feeSponsorshipText(agreed)).toMatchObject({
    components: {
      execution: {
        total: { usd: "0.040000" },
        sponsored: { usd: "0.040000" },
        userPays: { usd: "0.000000" },
      },
      relay: { sponsored: { usd: "0.010000" } },
      swap: { selected: true, total: { usd: "0.100000" }, sponsored: { usd: "0.100000" } },
    },
    sponsoredTotal: { usd: "0.150000" },
    userPaysTotal: { usd: "0.000000" },
  });
  // At the fill the rate needed slightly more than at the quote.
  expect(feeSponsorshipText(agreed, agreed.usd + USD / 100n)).toMatchObject({
    components: { swap: { sponsored: { usd: "0.110000" } } },
    sponsoredTotal: { usd: "0.160000" },
  });
  // Or less: then the fees share what is left.
  expect(feeSponsorshipText(agreed, agreed.usd - (USD * 11n) / 100n)).toMatchObject({
    components: { swap: { sponsored: { usd: "0.000000" } }, execution: { sponsored: { usd: "0.030000" } } },
    sponsoredTotal: { usd: "0.040000" },
  });
});

test("a credited fee is capped by its value at the time and by the quoted amount", () => {
  const usdc = { decimals: 6, priceUsd: USD };
  const ether = (usd: bigint) => ({ decimals: 18, priceUsd: usd * USD });
  const terms = {
    chainId: 1,
    currency: one!,
    fees: agreeAppFees([{ recipient: one!, bps: 100 }], 10n ** 18n, ether(2_000n), usdc),
  };
  const at = (usd: bigint) =>
    dueAppFees(terms, 10n ** 18n, 10n ** 18n, { deposited: ether(usd), balance: usdc })[0]?.amount;
  expect(at(2_000n)).toBe(20_000_000n);
  expect(at(1_500n)).toBe(15_000_000n);
  expect(at(3_000n)).toBe(20_000_000n);
});
