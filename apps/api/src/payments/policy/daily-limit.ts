import type { WorkerServices } from "../../db/services.port.ts";
import type { LaneLimits, Refusal } from "./limits.port.ts";

/** The most that a key may sign away on one chain, per transaction and per UTC day. */

/** Whether any key has a daily limit, and payments are therefore counted. */
export function hasDailyLimit({ spendingLimits = [] }: Pick<WorkerServices, "spendingLimits">): boolean {
  return spendingLimits.some(({ dayUsd }) => dayUsd !== undefined);
}

/**
 * Whether the value of a payment is within the limits.
 * @param usd its value with gas, 18 decimals; undefined: it has no price
 * @param spentUsd spent that day without it, 18 decimals
 * @returns undefined: it is
 */
export function judgeValue(
  usd: bigint | undefined,
  spentUsd: bigint,
  { transactionUsd, dayUsd }: LaneLimits,
): Refusal | undefined {
  if (transactionUsd === undefined && dayUsd === undefined) return undefined;
  if (usd === undefined)
    return { rule: "price", found: "a currency without a price", limit: "a known value" };
  if (transactionUsd !== undefined && usd > transactionUsd)
    return {
      rule: "transaction",
      found: dollars(usd),
      limit: `at most ${dollars(transactionUsd)} per transaction`,
    };
  if (dayUsd !== undefined && spentUsd + usd > dayUsd)
    return { rule: "day", found: dollars(spentUsd + usd), limit: `at most ${dollars(dayUsd)} per UTC day` };
  return undefined;
}

/** Rounded up to cents, so that what exceeds a limit never reads as within it. */
function dollars(usd: bigint): string {
  const cents = (usd + 10n ** 16n - 1n) / 10n ** 16n;
  return `$${cents / 100n}.${String(cents % 100n).padStart(2, "0")}`;
}
