import { formatUsd } from "../money/decimal-text.ts";
import type { Address, Hex } from "../ids/hex.ts";
import type { SelectorRule, SponsorshipRules } from "./rules.ts";

/** One call made by a sponsored transaction. */
export interface SponsoredCall {
  readonly target: Address;
  /** First four bytes of the call data. Undefined if there are fewer. */
  readonly selector: Hex | undefined;
}

/** The execution that a sponsor is asked to pay. */
export interface SponsorshipQuestion {
  /** The transaction itself. */
  readonly call: SponsoredCall;
  /** Every call that the transaction makes, at any depth, as far as the simulation showed. */
  readonly innerCalls: readonly SponsoredCall[];
  /** The user for whom the call is made, if known. */
  readonly user: Address | undefined;
  /** Maximum cost of the execution, USD with 18 decimals. */
  readonly costUsd: bigint;
  /** Native tokens that the call sends, USD with 18 decimals. */
  readonly valueUsd: bigint;
}

/** What the key has spent or reserved this UTC day, USD with 18 decimals. */
export interface SponsorshipSpending {
  readonly todayUsd: bigint;
  readonly userTodayUsd: bigint;
  readonly targetTodayUsd: bigint;
}

export interface SponsorshipRefusal {
  /** Name of the rule, as the owner set it. */
  readonly rule: keyof SponsorshipRules;
  readonly message: string;
}

/**
 * Why a key's rules do not let it pay for a call; undefined if they do. Allow lists apply to the transaction
 * itself: allowing a wallet or an entry point allows what users do through it. Deny lists apply at every
 * depth.
 */
export function judgeSponsorship(
  rules: SponsorshipRules,
  question: SponsorshipQuestion,
  spending: SponsorshipSpending,
): SponsorshipRefusal | undefined {
  return judgeCalls(rules, question) ?? judgeCosts(rules, question, spending);
}

function judgeCalls(
  rules: SponsorshipRules,
  { call, innerCalls }: SponsorshipQuestion,
): SponsorshipRefusal | undefined {
  for (const { target, selector } of [call, ...innerCalls]) {
    if (rules.denyTargets?.includes(target))
      return { rule: "denyTargets", message: `the API key does not sponsor calls to ${target}` };
    if (rules.denySelectors?.some((rule) => matches(rule, { target, selector })))
      return {
        rule: "denySelectors",
        message: `the API key does not sponsor calls of ${selector} on ${target}`,
      };
  }
  if (rules.allowTargets !== undefined && !rules.allowTargets.includes(call.target))
    return {
      rule: "allowTargets",
      message: `${call.target} is not among the contracts that the API key sponsors`,
    };
  if (rules.allowSelectors !== undefined && !rules.allowSelectors.some((rule) => matches(rule, call)))
    return {
      rule: "allowSelectors",
      message: `${call.selector ?? "a call without a function"} on ${call.target} is not among the functions that the API key sponsors`,
    };
  return undefined;
}

function matches(rule: SelectorRule, { target, selector }: SponsoredCall): boolean {
  return rule.selector === selector && (rule.target === undefined || rule.target === target);
}

function judgeCosts(
  rules: SponsorshipRules,
  { call, user, costUsd, valueUsd }: SponsorshipQuestion,
  spending: SponsorshipSpending,
): SponsorshipRefusal | undefined {
  if (valueUsd > rules.maxCallValueUsd)
    return {
      rule: "maxCallValueUsd",
      message: `the call carries native tokens worth $${formatUsd(valueUsd)}, but at most $${formatUsd(rules.maxCallValueUsd)} is sponsored; raise the rule maxCallValueUsd of the API key`,
    };
  if (exceeds(spending.todayUsd + costUsd, rules.dailyUsd))
    return {
      rule: "dailyUsd",
      message: `the daily budget of the API key${limit(rules.dailyUsd)} does not cover this call`,
    };
  // Without a known user the budget could be evaded.
  if (rules.perUserDailyUsd !== undefined && user === undefined)
    return { rule: "perUserDailyUsd", message: "the user of this call cannot be determined" };
  if (exceeds(spending.userTodayUsd + costUsd, rules.perUserDailyUsd))
    return {
      rule: "perUserDailyUsd",
      message: `the daily budget per user${limit(rules.perUserDailyUsd)} does not cover this call`,
    };
  if (exceeds(spending.targetTodayUsd + costUsd, targetBudget(rules, call.target)))
    return {
      rule: "perTargetDailyUsd",
      message: `the daily budget for ${call.target}${limit(targetBudget(rules, call.target))} does not cover this call`,
    };
  return undefined;
}

function targetBudget({ perTargetDailyUsd }: SponsorshipRules, target: Address): bigint | undefined {
  return typeof perTargetDailyUsd === "bigint" ? perTargetDailyUsd : perTargetDailyUsd?.get(target);
}

function limit(usd: bigint | undefined): string {
  return usd === undefined ? "" : ` ($${formatUsd(usd)})`;
}

function exceeds(usd: bigint, max: bigint | undefined): boolean {
  return max !== undefined && usd > max;
}
