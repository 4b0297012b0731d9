import fc from "fast-check";
import { expect, test } from "vitest";
import { applyFeeTerms, sponsoredUsd, unspentSponsorUsd } from "./fee-terms.ts";
import { feeSponsorshipOf } from "./fee-sponsorship.ts";
import type { FeeSponsorship } from "./fee-sponsorship.ts";
import { priceInput } from "./output-for-input.ts";
import type { PricingFacts } from "./output-for-input.ts";

const USD = 10n ** 18n;

function pricingWith(change: Partial<PricingFacts> = {}): { readonly facts: PricingFacts } {
  const ether = { decimals: 18, priceUsd: 2_000n * USD };
  return {
    facts: {
      origin: { decimals: 6, priceUsd: USD },
      destination: { decimals: 6, priceUsd: USD },
      destinationNative: ether,
      fillGasCostWei: 10n ** 13n,
      flatUsd: USD / 50n,
      serviceBps: 1,
      appBps: 0,
      ...change,
    },
  };
}

function agreedSponsorship(change: Partial<FeeSponsorship> = {}): FeeSponsorship {
  const sponsor = { wallet: `0x${"11".repeat(20)}` as const, selected: new Set(["execution"] as const) };
  return {
    ...feeSponsorshipOf(
      { ...sponsor, maxUsd: undefined, cap: undefined, fixedRate: undefined },
      { execution: 40_000n, isRent: false, service: 0n, app: 0n, swap: 0n, sponsored: 40_000n },
      { decimals: 6, priceUsd: USD },
    ),
    ...change,
  };
}

const rate = { input: 1n, output: 1n };

test("leaves the prices of a request without app fees, sponsor or top-up unchanged", () => {
  const plain = pricingWith();
  expect(applyFeeTerms(plain, {})).toBe(plain);
  expect(sponsoredUsd({}, 100_000_000n, plain)).toBe(0n);
});

test("the sponsor pays the agreed amount, even if gas has become more expensive", () => {
  const terms = { sponsorship: agreedSponsorship() };
  const expensive = applyFeeTerms(pricingWith({ fillGasCostWei: 5n * 10n ** 13n }), terms);
  expect(priceInput(100_000_000n, expensive.facts).sponsored).toBe(40_000n);
  expect(sponsoredUsd(terms, 100_000_000n, expensive)).toBe(USD / 25n);
});

test("keeps a fixed rate at the fill's prices and charges the sponsor the difference", () => {
  const terms = { sponsorship: agreedSponsorship({ fixedRate: rate }) };
  const moved = applyFeeTerms(
    pricingWith({ destination: { decimals: 6, priceUsd: (USD * 1_001n) / 1_000n } }),
    terms,
  );
  expect(priceInput(100_000_000n, moved.facts).output).toBe(100_000_000n);
  // Flat fee, gas and service fee, and a tenth of a percent of a hundred dollars.
  expect(sponsoredUsd(terms, 100_000_000n, moved)).toBe((15n * USD) / 100n);
});

test("drops a fixed rate that exceeds the sponsor's limit or is far from current prices", () => {
  const capped = { sponsorship: agreedSponsorship({ fixedRate: rate, maxUsd: (14n * USD) / 100n }) };
  const moved = pricingWith({ destination: { decimals: 6, priceUsd: (USD * 1_001n) / 1_000n } });
  expect(sponsoredUsd(capped, 100_000_000n, applyFeeTerms(moved, capped))).toBeUndefined();
  const unbound = { sponsorship: agreedSponsorship({ fixedRate: rate }) };
  const broken = pricingWith({ origin: { decimals: 6, priceUsd: (USD * 90n) / 100n } });
  expect(sponsoredUsd(unbound, 100_000_000n, applyFeeTerms(broken, unbound))).toBeUndefined();
});

test("deducts app fees and the gas top-up from a deposit at the fill as quoted", () => {
  const terms = {
    appFees: {
      chainId: 1,
      currency: `0x${"22".repeat(20)}` as const,
      fees: [{ recipient: `0x${"33".repeat(20)}` as const, bps: 25, amount: 1n }],
    },
    gasTopup: { amount: 10n ** 15n },
  };
  const { app, topup } = priceInput(100_000_000n, applyFeeTerms(pricingWith(), terms).facts);
  expect({ app, topup }).toEqual({ app: 250_000n, topup: 2_000_000n });
});

test("returns unspent origin gas to the sponsor, up to the part that the sponsor pays", () => {
  const terms = { sponsorship: agreedSponsorship() };
  const paidUsd = USD / 25n;
  expect(unspentSponsorUsd(terms, paidUsd, USD / 100n)).toBe(USD / 100n);
  expect(unspentSponsorUsd(terms, paidUsd, USD)).toBe(paidUsd);
  expect(unspentSponsorUsd({}, 0n, USD)).toBe(0n);
  const none = { selected: false, totalUsd: paidUsd, sponsoredUsd: 0n };
  const { components } = agreedSponsorship();
  const relayOnly = { sponsorship: agreedSponsorship({ components: { ...components, execution: none } }) };
  expect(unspentSponsorUsd(relayOnly, paidUsd, USD)).toBe(0n);
  const rent = { selected: true, totalUsd: paidUsd, sponsoredUsd: paidUsd };
  const rentOnly = {
    sponsorship: agreedSponsorship({ components: { ...components, execution: none, rent } }),
  };
  expect(unspentSponsorUsd(rentOnly, paidUsd, USD)).toBe(paidUsd);
});

test("never returns more to a sponsor than it pays, or than was not spent", () => {
  const usd = fc.bigInt({ min: 0n, max: 10n ** 24n });
  fc.assert(
    fc.property(usd, usd, fc.boolean(), (sponsored, unspent, isFixed) => {
      const terms = { sponsorship: agreedSponsorship(isFixed ? { fixedRate: rate } : {}) };
      const unused = unspentSponsorUsd(terms, sponsored, unspent);
      expect(unused >= 0n && unused <= sponsored && unused <= unspent).toBe(true);
    }),
  );
});
