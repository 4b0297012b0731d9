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
      (executionFee, service, app, swap, names, share, isRent) => {
        const selected = new Set(names);
        const cost = isRent ? { execution: 0n, rent: executionFee } : { execution: executionFee, rent: 0n };
        const totals = { ...cost, relay: service, app: app, swap: swap };
        const requested = names.reduce((sum, name) => sum + totals[name], 0n);
        const sponsored = BigInt(Math.floor(Number(requested) * share));
        const sponsorship = feeSponsorshipOf(
          { wallet, selected, maxUsd: 5n * USD, cap: sponsored, fixedRate: undefined },
          { execution: executionFee, isRent, service: service, app: app, swap: swap, sponsored: sponsored },
          usdc,
        );
        const shares = Object.entries(sponsorship.components);
        const sum = shares.reduce((usd, [, { sponsoredUsd }]) => usd + sponsoredUsd, 0n);
        expect(sum).toBe(sponsorship.usd - (sponsorship.usd % 10n ** 12n));
        for (const [, { totalUsd, sponsoredUsd, selected: isSelected }] of shares) {
          expect(sponsoredUsd <= totalUsd).toBe(true);
          if (!isSelected) expect(sponsoredUsd).toBe(0n);
        }
        expect(sponsorship.capHit).toBe(requested > sponsored);
        const text = feeSponsorshipText(sponsorship);
        expect(text.maxSubsidizationAmount).toBe("5000000");
        expect(Number(text.sponsoredTotal.usd)).toBeCloseTo(Number(sponsorship.usd) / 1e18, 5);
      },
    ),
  );
});

test("held and volatile balances pay plain gas, but not rent, which leaves the service", () => {
  const usdc = { decimals: 6, priceUsd: USD };
  const leaving = (isRent: boolean): bigint => {
    const request = { wallet, selected: new Set(feeComponents), maxUsd: undefined, cap: undefined };
    const trade = { execution: 300_000n, isRent, service: 0n, app: 0n, swap: 0n, sponsored: 300_000n };
    const sponsorship = feeSponsorshipOf({ ...request, fixedRate: undefined }, trade, usdc);
    return transferredUsd(sponsorship, sponsorship.usd);
  };
  expect([leaving(true), leaving(false)]).toEqual([(USD * 3n) / 10n, 0n]);
});

test("what a rate requires beyond all fees counts as swap cost", () => {
  const usdc = { decimals: 6, priceUsd: USD };
  const rate = { input: 1n, output: 1n };
  const sponsorship = feeSponsorshipOf(
    { wallet, selected: new Set(), maxUsd: undefined, cap: undefined, fixedRate: rate },
    { execution: 40_000n, isRent: false, service: 10_000n, app: 0n, swap: 0n, sponsored: 150_000n },
    usdc,
  );
  expect(feeSponsorshipText(sponsorship)).toMatchObject({
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
  expect(feeSponsorshipText(sponsorship, sponsorship.usd + USD / 100n)).toMatchObject({
    components: { swap: { sponsored: { usd: "0.110000" } } },
    sponsoredTotal: { usd: "0.160000" },
  });
  // If less is left, the fees share it.
  expect(feeSponsorshipText(sponsorship, sponsorship.usd - (USD * 11n) / 100n)).toMatchObject({
    components: { swap: { sponsored: { usd: "0.000000" } }, execution: { sponsored: { usd: "0.030000" } } },
    sponsoredTotal: { usd: "0.040000" },
  });
});
