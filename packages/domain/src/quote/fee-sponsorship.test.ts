import fc from "fast-check";
import { expect, test } from "vitest";
import type { Address } from "../ids/hex.ts";
import { feeComponents, feeSponsorshipOf, feeSponsorshipText, transferredUsd } from "./fee-sponsorship.ts";

const USD = 10n ** 18n;
const wallet: Address = "0x1111111111111111111111111111111111111111";

test("the displayed shares of a sponsorship add up to the displayed sum, and none exceeds its fee", () => {
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
          { wallet, selected, maxUsd: 5n * USD, cap: paid, fixedRate: undefined },
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

test("held and volatile balances pay plain gas, but not rent, which leaves the service", () => {
  const usdc = { decimals: 6, priceUsd: USD };
  const leaving = (isRent: boolean): bigint => {
    const request = { wallet, selected: new Set(feeComponents), maxUsd: undefined, cap: undefined };
    const trade = { execution: 300_000n, isRent, service: 0n, app: 0n, swap: 0n, sponsored: 300_000n };
    const agreed = feeSponsorshipOf({ ...request, fixedRate: undefined }, trade, usdc);
    return transferredUsd(agreed, agreed.usd);
  };
  expect([leaving(true), leaving(false)]).toEqual([(USD * 3n) / 10n, 0n]);
});

test("what a rate requires beyond all fees counts as swap cost", () => {
  const usdc = { decimals: 6, priceUsd: USD };
  const rate = { input: 1n, output: 1n };
  const agreed = feeSponsorshipOf(
    { wallet, selected: new Set(), maxUsd: undefined, cap: undefined, fixedRate: rate },
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
  // If less is left, the fees share it.
  expect(feeSponsorshipText(agreed, agreed.usd - (USD * 11n) / 100n)).toMatchObject({
    components: { swap: { sponsored: { usd: "0.000000" } }, execution: { sponsored: { usd: "0.030000" } } },
    sponsoredTotal: { usd: "0.040000" },
  });
});
