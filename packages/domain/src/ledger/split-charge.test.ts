import fc from "fast-check";
import { expect, test } from "vitest";
import { amountToUsdDown, amountToUsdUp } from "../money/usd.ts";
import { isConvertedAt, shareOfParts, splitCharge } from "./split-charge.ts";

const USD = 10n ** 18n;
const amount = fc.bigInt({ min: 0n, max: 1n << 90n });
const usd = fc.bigInt({ min: 0n, max: 10n ** 27n });
const someBalances = fc
  .array(
    fc.record({
      amount,
      unit: fc.record({
        decimals: fc.integer({ min: 0, max: 20 }),
        priceUsd: fc.bigInt({ min: 1n, max: 10n ** 24n }),
      }),
    }),
    { maxLength: 5 },
  )
  .map((rows) =>
    rows.map((row, index) => ({
      ...row,
      asset: { chainId: 1, currency: `0x${index.toString(16)}` as const },
    })),
  );

test("splits a charge exactly: parts and uncovered rest add up, and no part exceeds its balance", () => {
  fc.assert(
    fc.property(usd, someBalances, (charge, balances) => {
      const { parts, uncoveredUsd } = splitCharge(charge, balances);
      expect(parts.reduce((sum, part) => sum + part.usd, uncoveredUsd)).toBe(charge);
      for (const { asset, amount: partAmount, usd: partUsd } of parts) {
        const from = balances.find((balance) => balance.asset === asset);
        if (from === undefined) throw new Error("the part has no balance");
        expect(partAmount > 0n && partAmount <= from.amount).toBe(true);
        // Rounded up by less than one base unit.
        expect(amountToUsdUp(partAmount, from.unit) >= partUsd).toBe(true);
        const isWhole = partAmount === from.amount;
        expect(isWhole || amountToUsdDown(partAmount - 1n, from.unit) < partUsd).toBe(true);
      }
    }),
    { numRuns: 2_000 },
  );
});

test("covers a charge if and only if the balances are worth at least that much", () => {
  fc.assert(
    fc.property(usd, someBalances, (charge, balances) => {
      const worth = balances.reduce(
        (sum, balance) => sum + amountToUsdDown(balance.amount, balance.unit),
        0n,
      );
      const { uncoveredUsd } = splitCharge(charge, balances);
      expect(uncoveredUsd).toBe(charge > worth ? charge - worth : 0n);
    }),
    { numRuns: 2_000 },
  );
});

test("matches a part only to the price it was converted at", () => {
  fc.assert(
    fc.property(usd, someBalances, (charge, balances) => {
      const { parts } = splitCharge(charge, balances);
      for (const part of parts) {
        const unit = balances.find((balance) => balance.asset === part.asset)?.unit ?? {
          decimals: 0,
          priceUsd: 1n,
        };
        expect(isConvertedAt(part, unit)).toBe(true);
      }
    }),
  );
  const index = (dollars: bigint) => ({ decimals: 18, priceUsd: dollars * USD });
  const native = { asset: { chainId: 1, currency: "0x" } as const, amount: 10n ** 17n, unit: index(2_500n) };
  // A part of the balance, then all of it.
  for (const charge of [75n * USD, 1_000n * USD])
    for (const dollars of [2_499n, 2_500n, 2_501n]) {
      const { parts } = splitCharge(charge, [native]);
      expect(parts.map((part) => isConvertedAt(part, index(dollars)))).toEqual([dollars === 2_500n]);
    }
});

test("uses an asset only after all earlier ones are used up", () => {
  fc.assert(
    fc.property(usd, someBalances, (charge, balances) => {
      const { parts } = splitCharge(charge, balances);
      const touched = parts.map(({ asset }) => balances.findIndex((balance) => balance.asset === asset));
      expect(touched).toEqual(touched.toSorted((a, b) => a - b));
      for (const [index, part] of parts.slice(0, -1).entries())
        expect(part.amount).toBe(balances[touched[index] ?? -1]?.amount);
    }),
  );
});

test("capped balances together pay at most the cap in any order, and the others pay the rest", () => {
  fc.assert(
    fc.property(
      usd,
      usd,
      someBalances,
      fc.integer({ min: 0, max: 1 }),
      (charge, capUsd, balances, parity) => {
        const applies = (balance: (typeof balances)[number]): boolean =>
          balances.indexOf(balance) % 2 === parity;
        const { parts, uncoveredUsd } = splitCharge(charge, balances, { usd: capUsd, applies });
        expect(parts.reduce((sum, part) => sum + part.usd, uncoveredUsd)).toBe(charge);
        const worthOf = (isCapped: boolean): bigint =>
          balances
            .filter((balance) => applies(balance) === isCapped)
            .reduce((sum, balance) => sum + amountToUsdDown(balance.amount, balance.unit), 0n);
        const cappedUsd = parts
          .filter(({ asset }) => balances.some((balance) => balance.asset === asset && applies(balance)))
          .reduce((sum, part) => sum + part.usd, 0n);
        expect(cappedUsd <= capUsd).toBe(true);
        const payableUsd = worthOf(false) + (worthOf(true) < capUsd ? worthOf(true) : capUsd);
        expect(uncoveredUsd).toBe(charge > payableUsd ? charge - payableUsd : 0n);
      },
    ),
    { numRuns: 2_000 },
  );
});

test("paying from a reservation never exceeds it and uses all of it when the full amount is due", () => {
  fc.assert(
    fc.property(usd, usd, someBalances, (reserved, dueUsd, balances) => {
      const { parts } = splitCharge(reserved, balances);
      const shares = shareOfParts(dueUsd, parts);
      const reservedUsd = parts.reduce((sum, part) => sum + part.usd, 0n);
      let paidUsd = 0n;
      for (const [index, { amount: share }] of shares.entries()) {
        const part = parts[index];
        if (part === undefined) throw new Error("the share has no part");
        expect(share >= 0n && share <= part.amount).toBe(true);
        paidUsd += (share * part.usd) / part.amount;
      }
      if (dueUsd >= reservedUsd)
        expect(shares.map((balance) => balance.amount)).toEqual(parts.map((share) => share.amount));
      else expect(paidUsd >= dueUsd).toBe(true);
      if (dueUsd === 0n) expect(shares.every((balance) => balance.amount === 0n)).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test("half of a reservation pays half of the charge, at the rate of the reservation", () => {
  const asset = { chainId: 1, currency: "0x01" } as const;
  expect(shareOfParts(USD, [{ asset, amount: 2_000_001n, usd: 2n * USD }])).toEqual([
    { asset, amount: 1_000_001n },
  ]);
});
