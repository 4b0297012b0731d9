import { ServiceError } from "@causeway/domain";
import type { AnswerToKeep } from "../../balances/index.ts";
import type { NewExecution } from "../../payments/executions.port.ts";
import type { PermitPolicy } from "../../chains/permits.port.ts";
import type { Services } from "../../db/services.port.ts";
import type { Tx } from "../../db/unit-of-work.port.ts";
import { acceptsExecution } from "../../payments/index.ts";
import { utcDay } from "../../db/utc-day.ts";
import { executeJob, transition, type TransitionServices } from "../../requests/index.ts";

export interface AcceptPermitServices extends TransitionServices, Pick<Services, "events" | "uow"> {
  readonly permitPolicy: PermitPolicy;
}

/** The daily budget for submitting permits is used up. */
class BudgetSpent extends ServiceError {
  /** USD with 18 decimals. */
  readonly todayUsd: bigint;

  constructor(todayUsd: bigint) {
    super("SERVICE_UNAVAILABLE", "The daily budget for submitting signatures is used up; pay by transaction");
    this.todayUsd = todayUsd;
  }
}

/**
 * Commits the request, the execution, its job and the answer for repeated calls together. Checks the limits
 * on what the service may lose in the same commit.
 * @throws ServiceError INVALID_REQUEST if the quote was accepted in the meantime, RATE_LIMITED or
 * SERVICE_UNAVAILABLE beyond the limits
 */
export async function acceptPermit(
  services: AcceptPermitServices,
  execution: Omit<NewExecution, "day" | "createdAtMs">,
  keep: AnswerToKeep | undefined,
): Promise<void> {
  try {
    await accept(services, execution, keep);
  } catch (error) {
    if (error instanceof BudgetSpent)
      services.events.alarm("permit_budget_spent", {
        todayUsd: error.todayUsd,
        dailyUsd: services.permitPolicy.dailyUsd,
      });
    throw error;
  }
}

async function accept(
  services: AcceptPermitServices,
  execution: Omit<NewExecution, "day" | "createdAtMs">,
  keep: AnswerToKeep | undefined,
): Promise<void> {
  const { requestId } = execution;
  await services.uow.run(async (tx) => {
    const nowMs = services.clock.nowMs();
    const current = await tx.requests.lock(requestId);
    if (current === undefined || !acceptsExecution(current.state, false)) {
      const known = await tx.executions.lock(requestId);
      // The same signature arrived twice concurrently: the other call has accepted it.
      if (known?.keyId === execution.keyId && known.questionHash === execution.questionHash) return;
      throw new ServiceError(
        "INVALID_REQUEST",
        `Request ${requestId} is already being executed with another signature`,
        {
          field: "signature",
          requestId,
        },
      );
    }
    const newExecution = { ...execution, day: utcDay(nowMs), createdAtMs: nowMs };
    await enforceLimits(services, tx, newExecution);
    await transition(services, tx, current, { kind: "executionAccepted" }, {}, { by: "signature" });
    if (!(await tx.executions.add(newExecution)))
      throw new ServiceError("INVALID_REQUEST", `Request ${requestId} was already executed`, { requestId });
    await tx.outbox.add([executeJob(requestId, nowMs)], nowMs);
    if (keep !== undefined) await tx.idempotency.finish(keep.lease, keep.answer);
  });
}

/** Enforces limits on submissions that no output has paid for: those that are pending or failed. */
async function enforceLimits(
  { permitPolicy }: Pick<AcceptPermitServices, "permitPolicy">,
  tx: Pick<Tx, "executions">,
  { requestId, keyId, day, user, target, costUsd, createdAtMs }: NewExecution,
): Promise<void> {
  const spent = await tx.executions.lockSpending({ keyId, day, user, target }, requestId);
  if (spent.todayUsd + costUsd > permitPolicy.dailyUsd) throw new BudgetSpent(spent.todayUsd);
  if (user === undefined) return;
  const sinceMs = createdAtMs - permitPolicy.windowMs;
  if ((await tx.executions.countUnpaid(keyId, user, sinceMs)) >= permitPolicy.perUser)
    throw new ServiceError(
      "RATE_LIMITED",
      "Too many signatures of this user are pending or failed; pay by transaction or try again later",
      { retryAfterSeconds: Math.ceil(permitPolicy.windowMs / 1000) },
    );
}
