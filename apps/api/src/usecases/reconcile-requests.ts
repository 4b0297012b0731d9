import { IDEMPOTENCY_KEPT_MS } from "../ports/idempotency.ts";
import type { Services } from "../ports/services.ts";
import { debitOverdueFronts } from "./debit-overdue-fronts.ts";
import { settleEndedExecutions } from "./execution/settle-ended.ts";
import { lookAgainAtReports } from "./look-again-at-reports.ts";
import { rescueJob, transition, executeJob, fillJob, refundJob } from "./transition.ts";
import type { TransitionServices } from "./transition.ts";

const BATCH = 500;
const PRUNE_BATCH = 5_000;
/** Queued jobs are remembered this long, for whoever looks into what happened. */
const OUTBOX_KEPT_MS = 24 * 3600 * 1000;
/** Quotes that were never paid for are remembered this long after their deadline: a very late deposit is then still sent back by itself. */
const UNPAID_KEPT_MS = 30 * 24 * 3600 * 1000;

/**
 * The net under everything: requests past their deadline are closed, and what stands longer than it should gets its job again. Any number of processes may run it.
 */
export async function reconcileRequests(
  services: Pick<Services, "reads" | "uow" | "enginePolicy" | "quotePolicy"> &
    TransitionServices &
    Parameters<typeof lookAgainAtReports>[0],
): Promise<void> {
  const nowMs = services.clock.nowMs();
  const deadlineBeforeMs = nowMs - services.enginePolicy.expiryGraceMs;
  const looked = await lookAgainAtReports(services, deadlineBeforeMs);
  const expired = await services.uow.run(async (tx) => {
    const overdue = await tx.requests.lockOverdue(deadlineBeforeMs, BATCH, looked);
    for (const record of overdue) await transition(services, tx, record, { kind: "deadlinePassed" });
    return overdue.length;
  });
  const { overdueAfterMs } = services.enginePolicy;
  const [executions, fills, refunds] = await Promise.all([
    services.reads.overdueExecutions(nowMs - overdueAfterMs, BATCH),
    services.reads.overdueFills(nowMs - overdueAfterMs, BATCH),
    services.reads.overdueRefunds(nowMs - overdueAfterMs, BATCH),
  ]);
  const window = Math.floor(nowMs / overdueAfterMs);
  const jobs = [
    ...executions.map((requestId) => rescueJob(executeJob(requestId, nowMs), window)),
    ...fills.map((requestId) => rescueJob(fillJob(requestId, nowMs), window)),
    ...refunds.map((depositId) => rescueJob(refundJob(depositId, nowMs), window)),
  ];
  if (jobs.length > 0) await services.uow.run((tx) => tx.outbox.add(jobs, nowMs));
  if (expired + jobs.length > 0)
    services.events.happened("reconciled", {
      expired,
      executions: executions.length,
      fills: fills.length,
      refunds: refunds.length,
    });
  await settleEndedExecutions(services, BATCH);
  await debitOverdueFronts(services, BATCH);
}

/** Forgets what has served its time, a bounded batch a commit. */
export async function pruneHistory(services: Pick<Services, "uow" | "events" | "clock">): Promise<void> {
  const nowMs = services.clock.nowMs();
  const jobs = await drain(() =>
    services.uow.run((tx) => tx.outbox.prune(nowMs - OUTBOX_KEPT_MS, PRUNE_BATCH)),
  );
  const quotes = await drain(() =>
    services.uow.run((tx) => tx.requests.prune(nowMs - UNPAID_KEPT_MS, PRUNE_BATCH)),
  );
  const calls = await drain(() =>
    services.uow.run((tx) => tx.idempotency.prune(nowMs - IDEMPOTENCY_KEPT_MS, PRUNE_BATCH)),
  );
  if (jobs + quotes + calls > 0) services.events.happened("pruned", { jobs, quotes, calls });
}

async function drain(batch: () => Promise<number>): Promise<number> {
  let total = 0;
  for (let done = PRUNE_BATCH; done === PRUNE_BATCH; total += done) done = await batch();
  return total;
}
