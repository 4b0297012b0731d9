import fc from "fast-check";
import { expect, test } from "vitest";
import type { Address, Hex } from "../ids/hex.ts";
import { ONE_USD } from "../money/usd.ts";
import { judgeSponsorship } from "./judge-sponsorship.ts";
import type { SponsorshipQuestion, SponsorshipSpending } from "./judge-sponsorship.ts";
import { defaultSponsorshipRules } from "./rules.ts";
import type { SponsorshipRules } from "./rules.ts";

const address = (digit: string): Address => `0x${digit.repeat(40)}`;
const [wallet, token, otherContract] = [address("a"), address("b"), address("c")];
const transfer: Hex = "0xa9059cbb";
const execute: Hex = "0xb61d27f6";

const question: SponsorshipQuestion = {
  call: { target: wallet, selector: execute },
  innerCalls: [{ target: token, selector: transfer }],
  user: wallet,
  costUsd: ONE_USD,
  valueUsd: 0n,
};
const nothingSpent: SponsorshipSpending = { todayUsd: 0n, userTodayUsd: 0n, targetTodayUsd: 0n };

function refusal(
  rules: Partial<SponsorshipRules>,
  change: Partial<SponsorshipQuestion> = {},
  spending: Partial<SponsorshipSpending> = {},
): string | undefined {
  return judgeSponsorship(
    { ...defaultSponsorshipRules, ...rules },
    { ...question, ...change },
    { ...nothingSpent, ...spending },
  )?.rule;
}

test("a key without rules pays for any call that sends no native tokens", () => {
  expect(refusal({})).toBeUndefined();
  expect(refusal({}, { valueUsd: 1n })).toBe("maxCallValueUsd");
  expect(refusal({ maxCallValueUsd: 5n }, { valueUsd: 5n })).toBeUndefined();
});

test("denied targets are denied at every depth, and allowed ones are those of the transaction itself", () => {
  expect(refusal({ denyTargets: [token] })).toBe("denyTargets");
  expect(refusal({ denyTargets: [wallet] })).toBe("denyTargets");
  expect(refusal({ denyTargets: [otherContract] })).toBeUndefined();
  expect(refusal({ allowTargets: [wallet] })).toBeUndefined();
  expect(refusal({ allowTargets: [token] })).toBe("allowTargets");
  expect(refusal({ allowTargets: [] })).toBe("allowTargets");
  expect(refusal({ allowTargets: [wallet], denyTargets: [wallet] })).toBe("denyTargets");
});

test("rules name functions on all contracts or on one", () => {
  expect(refusal({ denySelectors: [{ selector: transfer }] })).toBe("denySelectors");
  expect(refusal({ denySelectors: [{ selector: transfer, target: otherContract }] })).toBeUndefined();
  expect(refusal({ denySelectors: [{ selector: transfer, target: token }] })).toBe("denySelectors");
  expect(refusal({ allowSelectors: [{ selector: execute }] })).toBeUndefined();
  expect(refusal({ allowSelectors: [{ selector: execute, target: token }] })).toBe("allowSelectors");
  const plain = { call: { target: wallet, selector: undefined } };
  expect(refusal({ allowSelectors: [{ selector: execute }] }, plain)).toBe("allowSelectors");
});

test.each([
  ["dailyUsd", "todayUsd"],
  ["perUserDailyUsd", "userTodayUsd"],
  ["perTargetDailyUsd", "targetTodayUsd"],
] as const)("%s applies to the last unit", (rule, spent) => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 24n }), (usd) => {
      const max = usd + question.costUsd;
      expect(refusal({ [rule]: max }, {}, { [spent]: usd })).toBeUndefined();
      expect(refusal({ [rule]: max - 1n }, {}, { [spent]: usd })).toBe(rule);
    }),
  );
});

test("a budget per user refuses calls without a known user", () => {
  expect(refusal({ perUserDailyUsd: ONE_USD }, { user: undefined })).toBe("perUserDailyUsd");
  expect(refusal({}, { user: undefined })).toBeUndefined();
});

test("budgets by contract apply to the contracts that they name", () => {
  const budgets = new Map([[wallet, ONE_USD / 2n]]);
  expect(refusal({ perTargetDailyUsd: budgets })).toBe("perTargetDailyUsd");
  const callElsewhere = { call: { target: otherContract, selector: execute } };
  expect(refusal({ perTargetDailyUsd: budgets }, callElsewhere)).toBeUndefined();
});
