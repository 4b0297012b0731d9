import type { WorkerServices } from "../../db/services.port.ts";
import type { LaneLimits, Refusal } from "./limits.port.ts";

/** Limits on the value that a key may sign away on one chain, per transaction and per UTC day. */

/** Whether any key has a daily limit, and payments are therefore counted. */
export function hasDailyLimit({ spendingLimits = [] }: Pick<WorkerServices, "spendingLimits">): boolean {
  return spendingLimits.some(({ dayUsd }) => dayUsd !== undefined);
}

/**
 * Judges whether the value of a payment is within the limits.
 * @param usd the value of the payment with its gas, 18 decimals; undefined: a price is missing
 * @param spentUsd the value of the day's other payments, 18 decimals
 * @returns undefined: the limits allow it
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
