import { ServiceError } from "@causeway/domain";
import type { AnswerToStore } from "../../balances/index.ts";
import type { NewExecution } from "../../payments/executions.port.ts";
import type { PermitPolicy } from "../../chains/permits.port.ts";
import type { Services } from "../../db/services.port.ts";
import { acceptsExecution } from "../../payments/index.ts";
import { utcDay } from "../../db/utc-day.ts";
import { executeJob, transition, type TransitionServices } from "../../requests/index.ts";
import { BudgetSpent, enforcePermitLimits } from "./permit-limits.ts";

export interface AcceptPermitServices extends TransitionServices, Pick<Services, "events" | "uow"> {
  readonly permitPolicy: PermitPolicy;
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
  keep: AnswerToStore | undefined,
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
  keep: AnswerToStore | undefined,
): Promise<void> {
  const { requestId } = execution;
  await services.uow.run(async (tx) => {
    const nowMs = services.clock.nowMs();
    const current = await tx.requests.lock(requestId);
    if (current === undefined || !acceptsExecution(current.state, false)) {
      const existing = await tx.executions.lock(requestId);
      // The same signature arrived twice concurrently: the other call has accepted it.
      if (existing?.keyId === execution.keyId && existing.bodyHash === execution.bodyHash) return;
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
    await enforcePermitLimits(services.permitPolicy, tx, newExecution);
    await transition(services, tx, current, { kind: "executionAccepted" }, {}, { by: "signature" });
    if (!(await tx.executions.add(newExecution)))
      throw new ServiceError("INVALID_REQUEST", `Request ${requestId} was already executed`, { requestId });
    await tx.outbox.add([executeJob(requestId, nowMs)], nowMs);
    if (keep !== undefined) await tx.idempotency.finish(keep.lease, keep.answer);
  });
}
