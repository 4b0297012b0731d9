import fc from "fast-check";
import { expect, test } from "vitest";
import type { Currency } from "../chain/chain.ts";
import { amountToUsdDown, amountToUsdUp } from "../money/usd.ts";
import { assetKey, inChargeOrder } from "./asset.ts";
import { decideHold, holdActs, holdStates } from "./hold-state.ts";
import type { HoldAct } from "./hold-state.ts";
import { mergeEntries } from "./movement.ts";
import { splitCredit, splitDebit } from "./repay-debt.ts";
import { availableFor, balancePurposes, haircutOf, haircutUsd } from "./balance-purposes.ts";
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

test("a charge is covered exactly when the balances are worth it", () => {
  fc.assert(
    fc.property(usd, balances, (charge, have) => {
      const worth = have.reduce((sum, one) => sum + amountToUsdDown(one.amount, one.unit), 0n);
      const { uncoveredUsd } = splitCharge(charge, have);
      expect(uncoveredUsd).toBe(charge > worth ? charge - worth : 0n);
    }),
    { numRuns: 2_000 },
  );
});

test("a part is recognized only by the price at which it was converted", () => {
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

test("an asset is used only after all earlier ones are empty", () => {
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

test("a payment from a reservation never exceeds it, is rounded up by less than a unit, and takes all of it when all is due", () => {
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

test("credits repay debts first, forced debits empty the balance first, and nothing is lost in either", () => {
  fc.assert(
    fc.property(amount, amount, (moved, there) => {
      const credit = splitCredit(moved, there);
      expect(credit.repaid + credit.credited).toBe(moved);
      expect(credit.repaid).toBe(moved < there ? moved : there);
      const debit = splitDebit(moved, there);
      expect(debit.taken + debit.owed).toBe(moved);
      expect(debit.taken).toBe(moved < there ? moved : there);
    }),
  );
});

test("holds reduce fast fills and claims but not sponsorship; debts reduce everything; nothing goes below zero", () => {
  const standing = { balanceUsd: 10n, owedUsd: 1n, heldUsd: 4n, haircutUsd: 0n };
  expect(balancePurposes.map((purpose) => [purpose, availableFor(purpose, standing)])).toEqual([
    ["fastFill", 5n],
    ["claim", 5n],
    ["sponsorship", 9n],
  ]);
  for (const purpose of balancePurposes)
    expect(availableFor(purpose, { balanceUsd: 3n, owedUsd: 4n, heldUsd: 0n, haircutUsd: 0n })).toBe(0n);
  expect(availableFor("claim", { balanceUsd: 3n, owedUsd: 0n, heldUsd: 4n, haircutUsd: 0n })).toBe(0n);
});

test("volatile balances back fast fills at a haircut, which claims must leave while there are holds", () => {
  expect((["stable", "major", "minor"] as const).map((one) => haircutOf(one, 1_000n))).toEqual([
    0n,
    500n,
    700n,
  ]);
  const volatile = { balanceUsd: 1_000n, owedUsd: 0n, heldUsd: 0n, haircutUsd: 500n };
  expect(balancePurposes.map((purpose) => availableFor(purpose, volatile))).toEqual([500n, 1_000n, 1_000n]);
  const held = { ...volatile, heldUsd: 400n };
  expect(balancePurposes.map((purpose) => availableFor(purpose, held))).toEqual([100n, 100n, 1_000n]);
});

test("the haircut of an asset is on its balance or on its holds, whichever is larger", () => {
  const position = (balanceUsd: bigint, heldUsd: bigint, priceId = "ethereum") =>
    ({ priceId, class: "major", balanceUsd, heldUsd }) as const;
  expect(haircutUsd([position(1_000n, 0n)])).toBe(500n);
  expect(haircutUsd([position(0n, 1_000n)])).toBe(500n);
  expect(haircutUsd([position(1_000n, 0n), position(0n, 1_400n)]), "one asset").toBe(700n);
  expect(haircutUsd([position(1_000n, 0n), position(0n, 1_400n, "bitcoin")])).toBe(1_200n);
  expect(haircutUsd([{ ...position(9n, 9n), class: "stable" }])).toBe(0n);
});

test("a claim never raises the haircut", () => {
  const usd = fc.bigInt({ min: 0n, max: 10n ** 24n });
  fc.assert(
    fc.property(usd, usd, usd, (balanceUsd, heldUsd, taken) => {
      const position = { priceId: "ethereum", class: "minor", heldUsd } as const;
      const left = balanceUsd > taken ? balanceUsd - taken : 0n;
      expect(haircutUsd([{ ...position, balanceUsd: left }])).toBeLessThanOrEqual(
        haircutUsd([{ ...position, balanceUsd }]),
      );
    }),
  );
});

test("a hold moves money only into and out of permanent, alternately", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...holdActs), { maxLength: 40 }), (acts: HoldAct[]) => {
      let state: (typeof holdStates)[number] = "active";
      let debits = 0;
      for (const act of acts) {
        const decision = decideHold(state, act);
        if (decision.kind !== "applied") continue;
        if (decision.moves === "debit") debits++;
        if (decision.moves === "credit") debits--;
        state = decision.state;
        expect(debits).toBe(state === "permanent" ? 1 : 0);
      }
    }),
  );
});

test("the life cycle of a hold", () => {
  const words = holdStates.map((state) =>
    holdActs.map((act) => {
      const decision = decideHold(state, act);
      return decision.kind === "applied" ? decision.state : decision.kind;
    }),
  );
  expect(Object.fromEntries(holdStates.map((state, at) => [state, words[at]]))).toEqual({
    // release, reinstate, makePermanent, return
    active: ["released", "already", "permanent", "rejected"],
    released: ["already", "active", "rejected", "already"],
    permanent: ["rejected", "rejected", "already", "released"],
  });
});

test("repeating an applied act changes nothing", () => {
  for (const state of holdStates)
    for (const act of holdActs) {
      const decision = decideHold(state, act);
      if (decision.kind === "applied") expect(decideHold(decision.state, act).kind).toBe("already");
    }
});

test("charges use the preferred currency first, by any of its names, then the others by address", () => {
  const currency = (address: string, symbol: string): Currency =>
    ({ address, symbol, id: symbol.toLowerCase(), priceId: `price-${symbol}` }) as Currency;
  const known = [
    currency("0x0", "ETH"),
    currency("0xc", "USDC"),
    currency("0xb", "DAI"),
    currency("0xa", "X"),
  ];
  const order = (preferred: string) => inChargeOrder(known, preferred).map(({ symbol }) => symbol);
  for (const name of ["USDC", "usdc", "PRICE-usdc"]) expect(order(name)).toEqual(["USDC", "ETH", "X", "DAI"]);
  expect(order("nothing")).toEqual(["ETH", "X", "DAI", "USDC"]);
});

test("merging keeps sums, with one line per account and asset and no zero lines", () => {
  const [one, two] = [1, 2].map((chainId) => ({ chainId, currency: "0x0" as const }));
  if (one === undefined || two === undefined) throw new Error("two assets");
  expect(assetKey(one)).not.toBe(assetKey(two));
  expect(
    mergeEntries([
      { account: "balance", asset: one, amount: 3n },
      { account: "fronted", asset: one, amount: -3n },
      { account: "fronted", asset: one, amount: -2n },
      { account: "owed", asset: one, amount: 2n },
      { account: "pending", asset: two, amount: 1n },
      { account: "pending", asset: two, amount: -1n },
    ]),
  ).toEqual([
    { account: "balance", asset: one, amount: 3n },
    { account: "fronted", asset: one, amount: -5n },
    { account: "owed", asset: one, amount: 2n },
  ]);
});
