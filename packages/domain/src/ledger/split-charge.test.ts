import fc from "fast-check";
import { expect, test } from "vitest";
import { amountToUsdDown, amountToUsdUp } from "../money/usd.ts";
import { isConvertedAt, shareOfParts, splitCharge } from "./split-charge.ts";

const USD = 10n ** 18n;
const amount = fc.bigInt({ min: 0n, max: 1n << 90n });
const usd = fc.bigInt({ min: 0n, max: 10n ** 27n });
const balances = fc
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
    rows.map((row, at) => ({ ...row, asset: { chainId: 1, currency: `0x${at.toString(16)}` as const } })),
  );

test("splits a charge exactly: parts and uncovered rest add up, and no part exceeds its balance", () => {
  fc.assert(
    fc.property(usd, balances, (charge, have) => {
      const { parts, uncoveredUsd } = splitCharge(charge, have);
      expect(parts.reduce((sum, part) => sum + part.usd, uncoveredUsd)).toBe(charge);
      for (const { asset, amount: taken, usd: partUsd } of parts) {
        const from = have.find((one) => one.asset === asset);
        if (from === undefined) throw new Error("the part has no balance");
        expect(taken > 0n && taken <= from.amount).toBe(true);
        // Rounded up by less than one base unit.
        expect(amountToUsdUp(taken, from.unit) >= partUsd).toBe(true);
        const isWhole = taken === from.amount;
        expect(isWhole || amountToUsdDown(taken - 1n, from.unit) < partUsd).toBe(true);
      }
    }),
    { numRuns: 2_000 },
  );
});

test("covers a charge if and only if the balances are worth at least that much", () => {
  fc.assert(
    fc.property(usd, balances, (charge, have) => {
      const worth = have.reduce((sum, one) => sum + amountToUsdDown(one.amount, one.unit), 0n);
      const { uncoveredUsd } = splitCharge(charge, have);
      expect(uncoveredUsd).toBe(charge > worth ? charge - worth : 0n);
    }),
    { numRuns: 2_000 },
  );
});

test("matches a part only to the price it was converted at", () => {
  fc.assert(
    fc.property(usd, balances, (charge, have) => {
      const { parts } = splitCharge(charge, have);
      for (const part of parts) {
        const unit = have.find((one) => one.asset === part.asset)?.unit ?? { decimals: 0, priceUsd: 1n };
        expect(isConvertedAt(part, unit)).toBe(true);
      }
    }),
  );
  const at = (dollars: bigint) => ({ decimals: 18, priceUsd: dollars * USD });
  const native = { asset: { chainId: 1, currency: "0x" } as const, amount: 10n ** 17n, unit: at(2_500n) };
  // A part of the balance, then all of it.
  for (const charge of [75n * USD, 1_000n * USD])
    for (const dollars of [2_499n, 2_500n, 2_501n]) {
      const { parts } = splitCharge(charge, [native]);
      expect(parts.map((part) => isConvertedAt(part, at(dollars)))).toEqual([dollars === 2_500n]);
    }
});

test("uses an asset only after all earlier ones are used up", () => {
  fc.assert(
    fc.property(usd, balances, (charge, have) => {
      const { parts } = splitCharge(charge, have);
      const touched = parts.map(({ asset }) => have.findIndex((one) => one.asset === asset));
      expect(touched).toEqual(touched.toSorted((a, b) => a - b));
      for (const [at, part] of parts.slice(0, -1).entries())
        expect(part.amount).toBe(have[touched[at] ?? -1]?.amount);
    }),
  );
});

test("capped balances together pay at most the cap in any order, and the others pay the rest", () => {
  fc.assert(
    fc.property(usd, usd, balances, fc.integer({ min: 0, max: 1 }), (charge, capUsd, have, parity) => {
      const applies = (one: (typeof have)[number]): boolean => have.indexOf(one) % 2 === parity;
      const { parts, uncoveredUsd } = splitCharge(charge, have, { usd: capUsd, applies });
      expect(parts.reduce((sum, part) => sum + part.usd, uncoveredUsd)).toBe(charge);
      const worthOf = (isCapped: boolean): bigint =>
        have
          .filter((one) => applies(one) === isCapped)
          .reduce((sum, one) => sum + amountToUsdDown(one.amount, one.unit), 0n);
      const cappedUsd = parts
        .filter(({ asset }) => have.some((one) => one.asset === asset && applies(one)))
        .reduce((sum, part) => sum + part.usd, 0n);
      expect(cappedUsd <= capUsd).toBe(true);
      const payableUsd = worthOf(false) + (worthOf(true) < capUsd ? worthOf(true) : capUsd);
      expect(uncoveredUsd).toBe(charge > payableUsd ? charge - payableUsd : 0n);
    }),
    { numRuns: 2_000 },
  );
});

test("paying from a reservation never exceeds it and uses all of it when the full amount is due", () => {
  fc.assert(
    fc.property(usd, usd, balances, (reserved, due, have) => {
      const { parts } = splitCharge(reserved, have);
      const shares = shareOfParts(due, parts);
      const reservedUsd = parts.reduce((sum, part) => sum + part.usd, 0n);
      let paidUsd = 0n;
      for (const [at, { amount: share }] of shares.entries()) {
        const part = parts[at];
        if (part === undefined) throw new Error("the share has no part");
        expect(share >= 0n && share <= part.amount).toBe(true);
        paidUsd += (share * part.usd) / part.amount;
      }
      if (due >= reservedUsd) expect(shares.map((one) => one.amount)).toEqual(parts.map((one) => one.amount));
      else expect(paidUsd >= due).toBe(true);
      if (due === 0n) expect(shares.every((one) => one.amount === 0n)).toBe(true);
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
