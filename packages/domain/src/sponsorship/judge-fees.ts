import { formatUsd } from "../money/decimal-text.ts";
import type { SponsorshipRefusal, SponsorshipSpending } from "./judge-sponsorship.ts";
import type { SponsorshipRules } from "./rules.ts";

/**
 * Why a key's rules do not let it pay `costUsd` of a request's fees; undefined if they do. Only the budgets
 * per day and per user apply, not the rules about calls and their value.
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

/** Whether the rules limit the payment of fees at all. */
export function limitsFees({ dailyUsd, perUserDailyUsd }: SponsorshipRules): boolean {
  return dailyUsd !== undefined || perUserDailyUsd !== undefined;
}
