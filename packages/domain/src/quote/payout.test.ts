import fc from "fast-check";
import { expect, test } from "vitest";
import { pow10 } from "../money/pow10.ts";
import { payout } from "./payout.ts";
import { refundAmount } from "./refund-amount.ts";

const terms = {
  destination: { chainId: 2, currency: "0x00" as const, expectedAmount: 10_000n, minimumAmount: 9_900n },
  firmUntilMs: 1_000,
  fillDeadlineMs: 5_000,
};
const HONOUR_BPS = 200;
/** A deposit that was seen and is priced at one moment. */
const at = (nowMs: number) => ({ nowMs, depositSeenAtMs: nowMs });

test("while the quote is firm a price that moved a little does not change what is paid", () => {
  expect(payout(terms, 9_800n, HONOUR_BPS, at(1_000))).toEqual({ kind: "pay", amount: 10_000n });
});

test("what came in the firm time is firm however long its confirmations take", () => {
  const times = { nowMs: 4_000, depositSeenAtMs: 1_000 };
  expect(payout(terms, 9_800n, HONOUR_BPS, times)).toEqual({ kind: "pay", amount: 10_000n });
  const late = { nowMs: 4_000, depositSeenAtMs: 1_001 };
  expect(payout(terms, 9_800n, HONOUR_BPS, late)).toEqual({ kind: "refund", reason: "SLIPPAGE" });
});

test("a promise without any slippage is kept within what the solver bears, firm or not", () => {
  const destination = { ...terms.destination, minimumAmount: 10_000n };
  expect(payout({ ...terms, destination }, 9_800n, HONOUR_BPS, at(4_000))).toEqual({
    kind: "pay",
    amount: 10_000n,
  });
  expect(payout({ ...terms, destination }, 9_799n, HONOUR_BPS, at(4_000))).toEqual({
    kind: "refund",
    reason: "SLIPPAGE",
  });
});

test("a firm quote is not kept when prices moved further than the solver bears", () => {
  expect(payout(terms, 9_799n, HONOUR_BPS, at(1_000))).toEqual({ kind: "refund", reason: "SLIPPAGE" });
});

test("after the firm time what the deposit buys now is paid, never more than expected, never less than promised", () => {
  expect(payout(terms, 9_950n, HONOUR_BPS, at(1_001))).toEqual({ kind: "pay", amount: 9_950n });
  expect(payout(terms, 10_500n, HONOUR_BPS, at(1_001))).toEqual({ kind: "pay", amount: 10_000n });
  expect(payout(terms, 9_900n, HONOUR_BPS, at(1_001))).toEqual({ kind: "pay", amount: 9_900n });
  expect(payout(terms, 9_899n, HONOUR_BPS, at(1_001))).toEqual({ kind: "refund", reason: "SLIPPAGE" });
});

test("after the fill deadline everything goes back, whatever the price", () => {
  expect(payout(terms, 99_999n, HONOUR_BPS, at(5_000))).toEqual({ kind: "pay", amount: 10_000n });
  expect(payout(terms, 99_999n, HONOUR_BPS, at(5_001))).toEqual({ kind: "refund", reason: "TTL_EXPIRED" });
});

test("a deposit that buys nothing goes back even when the client allowed any slippage", () => {
  const destination = { ...terms.destination, minimumAmount: 0n };
  expect(payout({ ...terms, destination }, 0n, HONOUR_BPS, at(1_001))).toEqual({
    kind: "refund",
    reason: "SLIPPAGE",
  });
});

test("no moment and no price pays outside of the promise", () => {
  const amount = fc.bigInt({ min: 0n, max: 20_000n });
  fc.assert(
    fc.property(amount, amount, amount, fc.nat(10_000), fc.nat(6_000), (a, b, repriced, honourBps, nowMs) => {
      const [minimumAmount, expectedAmount] = a < b ? [a, b] : [b, a];
      const destination = { ...terms.destination, minimumAmount, expectedAmount };
      const decision = payout({ ...terms, destination }, repriced, honourBps, at(nowMs));
      if (decision.kind === "pay")
        expect(decision.amount >= minimumAmount && decision.amount <= expectedAmount).toBe(true);
    }),
  );
});

test("a refund is the deposit less its gas, the gas rounded up into the deposit's currency", () => {
  const native = { decimals: 18, priceUsd: 2_000n * pow10(18) };
  const usdc = { decimals: 6, priceUsd: pow10(18) };
  expect(refundAmount(1_000_000n, 500_000_001n, native, usdc)).toEqual({
    kind: "refund",
    amount: 999_998n,
    gasFee: 2n,
  });
  expect(refundAmount(2n, 500_000_001n, native, usdc)).toEqual({ kind: "tooLow", gasFee: 2n });
  expect(refundAmount(3n, 500_000_001n, native, usdc)).toEqual({ kind: "refund", amount: 1n, gasFee: 2n });
});
