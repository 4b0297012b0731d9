import fc from "fast-check";
import { expect, test } from "vitest";
import { expectedOutputFor, decidePayout } from "./payout.ts";

const terms = {
  origin: { chainId: 1, currency: "0x00" as const, amount: 1_000n },
  destination: { chainId: 2, currency: "0x00" as const, expectedAmount: 10_000n, minimumAmount: 9_900n },
  firmUntilMs: 1_000,
  fillDeadlineMs: 5_000,
};
const HONOR_BPS = 200;
/** A deposit that is seen and priced at the same time. */
const timesAt = (nowMs: number) => ({ nowMs, depositSeenAtMs: nowMs });

test("a small price move does not change the output while the quote is firm", () => {
  expect(decidePayout(terms, { deposited: 1_000n, repriced: 9_800n }, HONOR_BPS, timesAt(1_000))).toEqual({
    kind: "pay",
    amount: 10_000n,
  });
});

test("a deposit seen while the quote is firm stays firm, regardless of how long its confirmations take", () => {
  const times = { nowMs: 4_000, depositSeenAtMs: 1_000 };
  expect(decidePayout(terms, { deposited: 1_000n, repriced: 9_800n }, HONOR_BPS, times)).toEqual({
    kind: "pay",
    amount: 10_000n,
  });
  const late = { nowMs: 4_000, depositSeenAtMs: 1_001 };
  expect(decidePayout(terms, { deposited: 1_000n, repriced: 9_800n }, HONOR_BPS, late)).toEqual({
    kind: "refund",
    reason: "SLIPPAGE",
  });
});

test("pays a zero-slippage quote within the tolerance, firm or not", () => {
  const destination = { ...terms.destination, minimumAmount: 10_000n };
  expect(
    decidePayout(
      { ...terms, destination },
      { deposited: 1_000n, repriced: 9_800n },
      HONOR_BPS,
      timesAt(4_000),
    ),
  ).toEqual({
    kind: "pay",
    amount: 10_000n,
  });
  expect(
    decidePayout(
      { ...terms, destination },
      { deposited: 1_000n, repriced: 9_799n },
      HONOR_BPS,
      timesAt(4_000),
    ),
  ).toEqual({
    kind: "refund",
    reason: "SLIPPAGE",
  });
});

test("a firm quote is firm for the quoted deposit only; the excess is converted at current prices", () => {
  const flexible = { ...terms, origin: { ...terms.origin, minimumAmount: 900n } };
  // Ten times the quote, for which pools pay slightly less than in proportion.
  const payoutFor = (deposited: bigint, repriced: bigint) =>
    decidePayout(flexible, { deposited, repriced }, HONOR_BPS, timesAt(1_000));
  expect(payoutFor(10_000n, 99_000n)).toEqual({ kind: "pay", amount: 99_000n });
  expect(payoutFor(10_000n, 101_000n)).toEqual({ kind: "pay", amount: 100_000n });
  expect(payoutFor(1_001n, 9_900n), "no less than for the quoted deposit").toEqual({
    kind: "pay",
    amount: 10_000n,
  });
});

test("a firm quote is not kept if prices moved beyond the solver's tolerance", () => {
  expect(decidePayout(terms, { deposited: 1_000n, repriced: 9_799n }, HONOR_BPS, timesAt(1_000))).toEqual({
    kind: "refund",
    reason: "SLIPPAGE",
  });
});

test("after the firm time the output follows current prices, between the minimum and the expected amount", () => {
  expect(decidePayout(terms, { deposited: 1_000n, repriced: 9_950n }, HONOR_BPS, timesAt(1_001))).toEqual({
    kind: "pay",
    amount: 9_950n,
  });
  expect(decidePayout(terms, { deposited: 1_000n, repriced: 10_500n }, HONOR_BPS, timesAt(1_001))).toEqual({
    kind: "pay",
    amount: 10_000n,
  });
  expect(decidePayout(terms, { deposited: 1_000n, repriced: 9_900n }, HONOR_BPS, timesAt(1_001))).toEqual({
    kind: "pay",
    amount: 9_900n,
  });
  expect(decidePayout(terms, { deposited: 1_000n, repriced: 9_899n }, HONOR_BPS, timesAt(1_001))).toEqual({
    kind: "refund",
    reason: "SLIPPAGE",
  });
});

test("after the fill deadline everything is refunded, regardless of the price", () => {
  expect(decidePayout(terms, { deposited: 1_000n, repriced: 99_999n }, HONOR_BPS, timesAt(5_000))).toEqual({
    kind: "pay",
    amount: 10_000n,
  });
  expect(decidePayout(terms, { deposited: 1_000n, repriced: 99_999n }, HONOR_BPS, timesAt(5_001))).toEqual({
    kind: "refund",
    reason: "TTL_EXPIRED",
  });
});

test("refunds a deposit that buys nothing, even if the client allowed any slippage", () => {
  const destination = { ...terms.destination, minimumAmount: 0n };
  expect(
    decidePayout({ ...terms, destination }, { deposited: 1_000n, repriced: 0n }, HONOR_BPS, timesAt(1_001)),
  ).toEqual({
    kind: "refund",
    reason: "SLIPPAGE",
  });
});

test("the output is in the guaranteed range at any time and price", () => {
  const amount = fc.bigInt({ min: 0n, max: 20_000n });
  fc.assert(
    fc.property(amount, amount, amount, fc.nat(10_000), fc.nat(6_000), (a, b, repriced, honorBps, nowMs) => {
      const [minimumAmount, expectedAmount] = a < b ? [a, b] : [b, a];
      const destination = { ...terms.destination, minimumAmount, expectedAmount };
      const decision = decidePayout(
        { ...terms, destination },
        { deposited: 1_000n, repriced: repriced },
        honorBps,
        timesAt(nowMs),
      );
      if (decision.kind === "pay")
        expect(decision.amount >= minimumAmount && decision.amount <= expectedAmount).toBe(true);
    }),
  );
});

/** A swap precedes the deposit: at least 950 and about 1000 are deposited. */
const termsWithSwap = { ...terms, origin: { ...terms.origin, minimumAmount: 950n } };

test("the expected output follows the swap's result, and never falls below the minimum", () => {
  expect(expectedOutputFor(termsWithSwap, 1_000n)).toBe(10_000n);
  expect(expectedOutputFor(termsWithSwap, 1_001n)).toBe(10_010n);
  expect(expectedOutputFor(termsWithSwap, 999n)).toBe(9_990n);
  expect(expectedOutputFor(termsWithSwap, 950n)).toBe(9_900n);
  expect(
    expectedOutputFor({ ...termsWithSwap, origin: { ...termsWithSwap.origin, amount: 1_003n } }, 1_004n),
  ).toBe(10_009n);
});

test("a swap's surplus over the expected amount goes to the recipient, or to the solver with surplusToSolver", () => {
  const payoutFor = (exact: typeof termsWithSwap & { surplusToSolver?: true }, repriced: bigint) =>
    decidePayout(exact, { deposited: 1_100n, repriced }, HONOR_BPS, timesAt(1_000));
  expect(payoutFor(termsWithSwap, 11_000n)).toEqual({ kind: "pay", amount: 11_000n });
  expect(payoutFor({ ...termsWithSwap, surplusToSolver: true }, 11_000n)).toEqual({
    kind: "pay",
    amount: 10_000n,
  });
  const smaller = { deposited: 990n, repriced: 9_850n };
  const lenient = { ...termsWithSwap, destination: { ...termsWithSwap.destination, minimumAmount: 9_500n } };
  expect(decidePayout({ ...lenient, surplusToSolver: true }, smaller, HONOR_BPS, timesAt(1_000))).toEqual({
    kind: "pay",
    amount: 9_900n,
  });
});

test("an exact output is kept for a deposit within its range and the solver's tolerance, and a larger one buys more", () => {
  const exact = { ...termsWithSwap, destination: { ...termsWithSwap.destination, minimumAmount: 10_000n } };
  const payoutFor = (deposited: bigint, repriced: bigint) =>
    decidePayout(exact, { deposited, repriced }, HONOR_BPS, timesAt(4_000));
  expect(payoutFor(990n, 9_900n)).toEqual({ kind: "pay", amount: 10_000n });
  expect(payoutFor(950n, 9_500n)).toEqual({ kind: "refund", reason: "SLIPPAGE" });
  expect(payoutFor(1_010n, 10_100n)).toEqual({ kind: "pay", amount: 10_100n });
  expect(payoutFor(1_010n, 10_050n)).toEqual({ kind: "pay", amount: 10_050n });
  expect(payoutFor(1_010n, 9_990n)).toEqual({ kind: "pay", amount: 10_000n });
});

test("for any swap result, the output keeps the minimum and costs no more than tolerated, and the expected output grows with the deposit", () => {
  const amount = fc.bigInt({ min: 1n, max: 20_000n });
  fc.assert(
    fc.property(
      fc.record({ a: amount, b: amount, expectedInput: amount, one: amount, more: amount }),
      fc.bigInt({ min: 0n, max: 40_000n }),
      fc.nat(1_000),
      fc.nat(5_000),
      fc.boolean(),
      ({ a, b, expectedInput, one: deposited, more: extra }, price, honorBps, seenAtMs, toSolver) => {
        const [minimumAmount, expectedAmount] = a < b ? [a, b] : [b, a];
        const guarantee = {
          ...terms,
          origin: { ...terms.origin, amount: expectedInput, minimumAmount: 1n },
          destination: { ...terms.destination, minimumAmount, expectedAmount },
          ...(toSolver && { surplusToSolver: true as const }),
        };
        const decideFor = (deposited: bigint) => {
          const repriced = (deposited * price) / 10_000n;
          return {
            repriced,
            due: decidePayout(guarantee, { deposited, repriced }, honorBps, timesAt(seenAtMs)),
          };
        };
        const [smaller, larger] = [decideFor(deposited), decideFor(deposited + extra)];
        for (const { repriced, due: decision } of [smaller, larger]) {
          if (decision.kind !== "pay") continue;
          // A smaller amount could not be attested as a fill.
          expect(decision.amount >= minimumAmount).toBe(true);
          expect(decision.amount * (10_000n - BigInt(honorBps)) <= repriced * 10_000n).toBe(true);
        }
        expect(
          expectedOutputFor(guarantee, deposited) <= expectedOutputFor(guarantee, deposited + extra),
        ).toBe(true);
      },
    ),
    { numRuns: 2_000 },
  );
});
