import { ServiceError } from "@causeway/domain";
import type { PermitPolicy } from "../../chains/permits.port.ts";
import type { Tx } from "../../db/unit-of-work.port.ts";
import type { NewExecution } from "../../payments/executions.port.ts";

/** The daily budget for submitting permits is used up. */
export class BudgetSpent extends ServiceError {
  /** USD with 18 decimals. */
  readonly todayUsd: bigint;

  constructor(todayUsd: bigint) {
    super("SERVICE_UNAVAILABLE", "The daily budget for submitting signatures is used up; pay by transaction");
    this.todayUsd = todayUsd;
  }
}

/** Enforces limits on submissions that no output has paid for: those that are pending or failed. */
export async function enforcePermitLimits(
  policy: PermitPolicy,
  tx: Pick<Tx, "executions">,
  { requestId, keyId, day, user, target, costUsd, createdAtMs }: NewExecution,
): Promise<void> {
  const spent = await tx.executions.lockSpending({ keyId, day, user, target }, requestId);
  if (spent.todayUsd + costUsd > policy.dailyUsd) throw new BudgetSpent(spent.todayUsd);
  if (user === undefined) return;
  const sinceMs = createdAtMs - policy.windowMs;
  if ((await tx.executions.countUnpaid(keyId, user, sinceMs)) >= policy.perUser)
    throw new ServiceError(
      "RATE_LIMITED",
      "Too many signatures of this user are pending or failed; pay by transaction or try again later",
      { retryAfterSeconds: Math.ceil(policy.windowMs / 1000) },
    );
}
