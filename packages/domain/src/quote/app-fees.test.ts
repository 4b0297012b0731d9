import fc from "fast-check";
import { expect, test } from "vitest";
import type { Address } from "../ids/hex.ts";
import { amountToUsdDown } from "../money/usd.ts";
import { quoteAppFees, appBpsOf, appFeesUsd, appFeeCredits, mergeAppFees } from "./app-fees.ts";

const USD = 10n ** 18n;
const unit = fc.record({
  decimals: fc.integer({ min: 0, max: 24 }),
  priceUsd: fc.bigInt({ min: 1n, max: 10n ** 25n }),
});
const anAmount = fc.bigInt({ min: 1n, max: 10n ** 30n });
const [firstRecipient, secondRecipient]: Address[] = [
  "0x1111111111111111111111111111111111111111",
  "0x2222222222222222222222222222222222222222",
];

test("drops zero app fees, and adds up those of one recipient", () => {
  const fees = [
    { recipient: firstRecipient!, bps: 10 },
    { recipient: secondRecipient!, bps: 0 },
    { recipient: firstRecipient!, bps: 5 },
  ];
  expect(mergeAppFees(fees)).toEqual([{ recipient: firstRecipient, bps: 15 }]);
});

test("app fee credits are never worth more than the fee deducted from the deposit, regardless of its size", () => {
  const fees = fc.array(
    fc.record({
      recipient: fc.constantFrom(firstRecipient!, secondRecipient!),
      bps: fc.integer({ min: 0, max: 900 }),
    }),
    {
      maxLength: 5,
    },
  );
  fc.assert(
    fc.property(
      fees,
      anAmount,
      anAmount,
      unit,
      unit,
      (requestedFees, quotedInput, receivedInput, deposited, balance) => {
        const merged = mergeAppFees(requestedFees);
        const terms = {
          chainId: 1,
          currency: firstRecipient!,
          fees: quoteAppFees(merged, quotedInput, deposited, balance),
        };
        const credits = appFeeCredits(terms, receivedInput, quotedInput, undefined);
        const sum = credits.reduce((all, { amount }) => all + amount, 0n);
        const deducted = (receivedInput * BigInt(appBpsOf(merged))) / 10_000n;
        expect(amountToUsdDown(sum, balance) <= amountToUsdDown(deducted + 1n, deposited)).toBe(true);
        expect(
          appFeeCredits(terms, quotedInput, quotedInput, { deposited, balance }).map(({ amount }) => amount),
        ).toEqual(terms.fees.map(({ amount }) => amount));
        expect(
          amountToUsdDown(
            terms.fees.reduce((all, { amount }) => all + amount, 0n),
            balance,
          ) <= appFeesUsd(merged, quotedInput, deposited),
        ).toBe(true);
      },
    ),
    { numRuns: 1_000 },
  );
});

test("a credited fee is capped by its value at the time and by the quoted amount", () => {
  const usdc = { decimals: 6, priceUsd: USD };
  const ether = (usd: bigint) => ({ decimals: 18, priceUsd: usd * USD });
  const terms = {
    chainId: 1,
    currency: firstRecipient!,
    fees: quoteAppFees([{ recipient: firstRecipient!, bps: 100 }], 10n ** 18n, ether(2_000n), usdc),
  };
  const creditAt = (usd: bigint) =>
    appFeeCredits(terms, 10n ** 18n, 10n ** 18n, { deposited: ether(usd), balance: usdc })[0]?.amount;
  expect(creditAt(2_000n)).toBe(20_000_000n);
  expect(creditAt(1_500n)).toBe(15_000_000n);
  expect(creditAt(3_000n)).toBe(20_000_000n);
});
