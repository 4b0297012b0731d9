import { amountToUsdUp, formatUsd } from "@causeway/domain";
import type { PricedUnit, RefundPlan } from "@causeway/domain";
import type { DepositRecord } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";

/**
 * Refunds that settlement can never repay: each moves inventory into the depository, so a daily limit applies
 * to them.
 */

type Needs = Pick<Services, "clock" | "enginePolicy">;

/** The amount of the daily limit that a refund uses. */
export interface UnrepaidRefund {
  /** USD with 18 decimals. */
  readonly usd: bigint;
  readonly reason: string;
}

const DAY_MS = 24 * 3600 * 1000;
/** Time (ms) after which a refund beyond the limit is tried again: the 24-hour window moves on. */
export const LIMIT_WAIT_MS = 10 * 60 * 1000;

/**
 * The daily limit, in USD with 18 decimals. Unattributed deposits share half of it: anyone can make them for
 * the price of gas, and refunds of requests must not wait for them.
 */
function limitFor(
  { enginePolicy }: Pick<Needs, "enginePolicy">,
  { requestId }: Pick<DepositRecord, "requestId">,
): { readonly usd: bigint; readonly name: string } {
  const usd = enginePolicy.maxUnrepaidRefundsUsd;
  if (requestId !== undefined) return { usd, name: "UNREPAID_REFUNDS_DAILY_USD" };
  return { usd: usd / 2n, name: "half of UNREPAID_REFUNDS_DAILY_USD" };
}

/** The share of the daily limit that a refund uses; undefined: settlement repays the refund. */
export function unrepaidOf(
  plan: Extract<RefundPlan, { kind: "pay" }>,
  unit: PricedUnit,
): UnrepaidRefund | undefined {
  if (plan.unattestable === undefined) return undefined;
  return { usd: amountToUsdUp(plan.amount, unit), reason: plan.unattestable };
}

/**
 * Why this refund exceeds the whole limit and needs the operator's release; undefined: it fits, or is
 * released.
 */
export function refuseUnrepaid(
  services: Needs,
  deposit: Pick<DepositRecord, "refundReleasedAtMs" | "requestId">,
  unrepaid: UnrepaidRefund | undefined,
): string | undefined {
  const limit = limitFor(services, deposit);
  if (unrepaid === undefined || unrepaid.usd <= limit.usd || deposit.refundReleasedAtMs !== undefined)
    return undefined;
  return `${unrepaid.reason}; $${formatUsd(unrepaid.usd)} exceeds ${limit.name} ($${formatUsd(limit.usd)})`;
}

/**
 * Whether the 24-hour limit has room for this refund, or the operator released it, which still counts. The
 * limit stays locked until the transaction ends; without room the deposit is marked as waiting. Call with the
 * deposit locked, before any lane.
 */
export async function hasRoomForUnrepaid(
  services: Needs,
  tx: Pick<Tx, "deposits" | "events">,
  deposit: DepositRecord,
  unrepaid: UnrepaidRefund | undefined,
): Promise<boolean> {
  if (unrepaid === undefined) return true;
  const { clock, enginePolicy } = services;
  const spent = await tx.deposits.lockUnrepaid(clock.nowMs() - DAY_MS);
  const limit = limitFor(services, deposit);
  const limitSpentUsd = deposit.requestId === undefined ? spent.unattributedUsd : spent.usd;
  const fits =
    spent.usd + unrepaid.usd <= enginePolicy.maxUnrepaidRefundsUsd &&
    limitSpentUsd + unrepaid.usd <= limit.usd;
  if (fits || deposit.refundReleasedAtMs !== undefined) return true;
  const isNew = await tx.deposits.recordRefundWait(deposit.id, unrepaid.reason);
  if (isNew)
    tx.events.alarm("refund_limit_reached", {
      requestId: deposit.requestId,
      depositId: deposit.id,
      reason: unrepaid.reason,
      usd: unrepaid.usd,
      spentUsd: limitSpentUsd,
      limitUsd: limit.usd,
    });
  return false;
}
