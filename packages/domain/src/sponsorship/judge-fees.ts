import { formatUsd } from "../money/decimal-text.ts";
import type { SponsorshipRefusal, SponsorshipSpending } from "./judge-sponsorship.ts";
import type { SponsorshipRules } from "./rules.ts";

/**
 * Checks whether a key's rules let it pay this much of a request's fees; undefined if they do. Rules about
 * calls and their value do not apply, budgets per day and per user do.
 * @param costUsd USD with 18 decimals
 */
export function judgeFees(
  { dailyUsd, perUserDailyUsd }: SponsorshipRules,
  costUsd: bigint,
  { todayUsd, userTodayUsd }: Pick<SponsorshipSpending, "todayUsd" | "userTodayUsd">,
): SponsorshipRefusal | undefined {
  if (dailyUsd !== undefined && todayUsd + costUsd > dailyUsd)
    return {
      rule: "dailyUsd",
      message: `the daily budget of the API key ($${formatUsd(dailyUsd)}) does not cover these fees`,
    };
  if (perUserDailyUsd !== undefined && userTodayUsd + costUsd > perUserDailyUsd)
    return {
      rule: "perUserDailyUsd",
      message: `the daily budget per user ($${formatUsd(perUserDailyUsd)}) does not cover these fees`,
    };
  return undefined;
}

/** Whether such a key has budgets at all. */
export function bindsFees({ dailyUsd, perUserDailyUsd }: SponsorshipRules): boolean {
  return dailyUsd !== undefined || perUserDailyUsd !== undefined;
}
