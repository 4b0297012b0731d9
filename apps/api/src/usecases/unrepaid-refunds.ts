import { amountToUsdUp, formatUsd } from "@causeway/domain";
import type { PricedUnit, RefundPlan } from "@causeway/domain";
import type { DepositRecord } from "../ports/records.ts";
import type { Services } from "../ports/services.ts";
import type { Tx } from "../ports/unit-of-work.ts";

/** Refunds that settlement can never repay: each moves inventory into the depository, so together they are limited per day. */

type Needs = Pick<Services, "clock" | "events" | "enginePolicy">;

/** What a refund takes out of the daily limit. */
export interface UnrepaidRefund {
  /** USD with 18 decimals. */
  readonly usd: bigint;
  readonly reason: string;
}

const DAY_MS = 24 * 3600 * 1000;
/** Room in the limit comes back as the day moves on. */
export const LIMIT_WAIT_MS = 10 * 60 * 1000;

/** Undefined: settlement repays this refund. */
export function unrepaidOf(
  plan: Extract<RefundPlan, { kind: "pay" }>,
  unit: PricedUnit,
): UnrepaidRefund | undefined {
  if (plan.unattestable === undefined) return undefined;
  return { usd: amountToUsdUp(plan.amount, unit), reason: plan.unattestable };
}

/** Why this refund exceeds the whole limit and needs the operator's release; undefined: it fits, or is released. */
export function refuseUnrepaid(
  { enginePolicy }: Needs,
  { refundReleasedAtMs }: Pick<DepositRecord, "refundReleasedAtMs">,
  unrepaid: UnrepaidRefund | undefined,
): string | undefined {
  const limitUsd = enginePolicy.maxUnrepaidRefundsUsd;
  if (unrepaid === undefined || unrepaid.usd <= limitUsd || refundReleasedAtMs !== undefined)
    return undefined;
  return `${unrepaid.reason}; ${formatUsd(unrepaid.usd)} USD exceed UNREPAID_REFUNDS_DAILY_USD (${formatUsd(limitUsd)})`;
}

/**
 * Whether the limit of the last 24 hours has room for this refund, or the operator released it: then it still counts against the others. The limit stays locked until the end of the transaction; without room the deposit is marked as waiting.
 * Call with the deposit locked, before any lane is.
 */
export async function hasRoomForUnrepaid(
  services: Needs,
  tx: Pick<Tx, "deposits">,
  deposit: DepositRecord,
  unrepaid: UnrepaidRefund | undefined,
): Promise<boolean> {
  if (unrepaid === undefined) return true;
  const { clock, enginePolicy, events } = services;
  const limitUsd = enginePolicy.maxUnrepaidRefundsUsd;
  const spentUsd = await tx.deposits.lockUnrepaid(clock.nowMs() - DAY_MS);
  if (deposit.refundReleasedAtMs !== undefined || spentUsd + unrepaid.usd <= limitUsd) return true;
  const isNew = await tx.deposits.noteRefundWaits(deposit.id, unrepaid.reason);
  if (isNew)
    events.alarm("refund_limit_reached", {
      requestId: deposit.requestId,
      depositId: deposit.id,
      reason: unrepaid.reason,
      usd: unrepaid.usd,
      spentUsd,
      limitUsd,
    });
  return false;
}
