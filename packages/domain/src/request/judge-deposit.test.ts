import { expect, test } from "vitest";
import { NATIVE_CURRENCY } from "../ids/hex.ts";
import { depositUsdAtQuote, judgeDeposit, minDeposit } from "./judge-deposit.ts";
import type { JudgedDeposit } from "./judge-deposit.ts";

const user = "0x1111111111111111111111111111111111111111";
const stranger = "0x2222222222222222222222222222222222222222";
const usdc = "0x3333333333333333333333333333333333333333";

const terms = {
  user,
  origin: { chainId: 1, currency: usdc, amount: 100n },
  forceRefund: false,
} as const;
const matchingDeposit: JudgedDeposit = {
  chainId: 1,
  currency: usdc,
  amount: 100n,
  depositor: user,
  sender: user,
};

test("accepts another depositor on chains whose wallets pay from any address; a mismatch there does not count as the user's", () => {
  const fromAnyAddress: JudgedDeposit = {
    ...matchingDeposit,
    depositor: stranger,
    sender: stranger,
    isFromAnyAddress: true,
  };
  expect(judgeDeposit(terms, fromAnyAddress)).toEqual({ kind: "match" });
  expect(judgeDeposit(terms, { ...fromAnyAddress, amount: 99n })).toMatchObject({
    kind: "mismatch",
    byUser: false,
  });
});

test("an agreed deposit matches even if someone else signed it to pay for the user", () => {
  expect(judgeDeposit(terms, matchingDeposit)).toEqual({ kind: "match" });
  expect(judgeDeposit(terms, { ...matchingDeposit, sender: stranger })).toEqual({ kind: "match" });
});

test.each<[string, Partial<JudgedDeposit>, string]>([
  ["on another chain", { chainId: 2 }, "DEPOSIT_CHAIN_MISMATCH"],
  ["in another currency", { currency: NATIVE_CURRENCY }, "INCORRECT_DEPOSIT_CURRENCY"],
  ["by another depositor", { depositor: stranger }, "DEPOSIT_ADDRESS_MISMATCH"],
  ["of one unit less", { amount: 99n }, "DEPOSITED_AMOUNT_TOO_LOW_TO_FILL"],
  ["of one unit more", { amount: 101n }, "DEPOSITED_AMOUNT_MISMATCH"],
  [
    "of another currency and too little of it",
    { currency: NATIVE_CURRENCY, amount: 1n },
    "INCORRECT_DEPOSIT_CURRENCY",
  ],
])(
  "a deposit %s is a mismatch, and the user's own only if the user signed it or it is the request's execution",
  (_what, change, reason) => {
    const deposit = { ...matchingDeposit, ...change };
    expect(judgeDeposit(terms, deposit)).toEqual({ kind: "mismatch", reason, byUser: true });
    expect(judgeDeposit(terms, { ...deposit, sender: stranger })).toEqual({
      kind: "mismatch",
      reason,
      byUser: false,
    });
    expect(judgeDeposit(terms, { ...deposit, sender: stranger, byExecution: true })).toEqual({
      kind: "mismatch",
      reason,
      byUser: true,
    });
  },
);

test("a request that must be refunded accepts nothing, but still reports what is wrong with a deposit", () => {
  const forced = { ...terms, forceRefund: true };
  expect(judgeDeposit(forced, matchingDeposit)).toEqual({
    kind: "mismatch",
    reason: "MANUAL_ADMIN_REFUND",
    byUser: true,
  });
  expect(judgeDeposit(forced, { ...matchingDeposit, amount: 1n })).toMatchObject({
    reason: "DEPOSITED_AMOUNT_TOO_LOW_TO_FILL",
  });
});

const termsWithSwap = { ...terms, origin: { ...terms.origin, minimumAmount: 97n }, inputUsd: 1_000n };

test("the output of a swap matches if it is at least its minimum, without an upper limit", () => {
  expect(minDeposit(termsWithSwap)).toBe(97n);
  for (const amount of [97n, 99n, 100n, 101n, 10n ** 30n])
    expect(judgeDeposit(termsWithSwap, { ...matchingDeposit, amount })).toEqual({ kind: "match" });
  expect(judgeDeposit(termsWithSwap, { ...matchingDeposit, amount: 96n })).toEqual({
    kind: "mismatch",
    reason: "DEPOSITED_AMOUNT_TOO_LOW_TO_FILL",
    byUser: true,
  });
});

test("values a quoted deposit at the quote, a larger one in proportion rounded up, and any other as unknown", () => {
  const usdOf = (change: Partial<JudgedDeposit>) =>
    depositUsdAtQuote(termsWithSwap, { ...matchingDeposit, ...change });
  expect([usdOf({}), usdOf({ amount: 97n }), usdOf({ amount: 1n })]).toEqual([1_000n, 970n, 10n]);
  expect([usdOf({ amount: 101n }), usdOf({ amount: 1_000n })]).toEqual([1_010n, 10_000n]);
  expect(depositUsdAtQuote({ ...termsWithSwap, inputUsd: 999n }, { ...matchingDeposit, amount: 101n })).toBe(
    1_009n,
  );
  expect([usdOf({ chainId: 2 }), usdOf({ currency: NATIVE_CURRENCY })]).toEqual([undefined, undefined]);
  const exact = { ...terms, inputUsd: 1_000n };
  expect([
    depositUsdAtQuote(exact, matchingDeposit),
    depositUsdAtQuote(exact, { ...matchingDeposit, amount: 101n }),
  ]).toEqual([1_000n, undefined]);
});
