import fc from "fast-check";
import { expect, test } from "vitest";
import type { Address } from "../ids/hex.ts";
import { amountToUsdDown } from "../money/usd.ts";
import { agreeAppFees, appBpsOf, appFeesUsd, dueAppFees, mergeAppFees } from "./app-fees.ts";

const USD = 10n ** 18n;
const unit = fc.record({
  decimals: fc.integer({ min: 0, max: 24 }),
  priceUsd: fc.bigInt({ min: 1n, max: 10n ** 25n }),
});
const anAmount = fc.bigInt({ min: 1n, max: 10n ** 30n });
const [one, two]: Address[] = [
  "0x1111111111111111111111111111111111111111",
  "0x2222222222222222222222222222222222222222",
];

test("drops zero app fees, and adds up those of one recipient", () => {
  const fees = [
    { recipient: one!, bps: 10 },
    { recipient: two!, bps: 0 },
    { recipient: one!, bps: 5 },
  ];
  expect(mergeAppFees(fees)).toEqual([{ recipient: one, bps: 15 }]);
});

test("app fee credits are never worth more than the fee deducted from the deposit, regardless of its size", () => {
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
