import { expiresBefore } from "@causeway/domain";
import type { RequestId } from "@causeway/domain";
import type { DueOnChain } from "../ports/reads.ts";
import type { Services } from "../ports/services.ts";
import { lookAgainAtReports } from "./look-again-at-reports.ts";
import { transition } from "./transition.ts";
import type { TransitionServices } from "./transition.ts";

const BATCH = 500;

type Needs = Pick<Services, "reads" | "uow" | "enginePolicy"> &
  TransitionServices &
  Parameters<typeof lookAgainAtReports>[0];

/**
 * Ends requests whose deadline passed without a deposit. Each chain is read by a query of its own, so one that stands still, or fails, holds up no other.
 * @returns how many ended
 */
export async function expireRequests(services: Needs): Promise<number> {
  const clock = { nowMs: services.clock.nowMs(), graceMs: services.enginePolicy.expiryGraceMs };
  const due = (await services.reads.waitingOrigins()).flatMap(({ chainId, newestBlockMs }): DueOnChain[] => {
    const isConfigured = services.chains.profile(chainId) !== undefined;
    const deadlineBeforeMs = expiresBefore({ isConfigured, newestBlockMs }, clock);
    return deadlineBeforeMs === undefined ? [] : [{ chainId, deadlineBeforeMs }];
  });
  // Nodes are asked at the same time; the database by one chain at a time, or expiry would take all connections.
  const looked = await Promise.all(due.map(async (one) => await guarded(services, one, lookAgainAtReports)));
  let expired = 0;
  for (const [at, one] of due.entries()) {
    const requestIds = looked[at];
    if (requestIds === undefined) continue;
    expired += (await guarded(services, one, async () => await expireOn(services, one, requestIds))) ?? 0;
  }
  return expired;
}

/** @returns undefined when it failed for this chain */
async function guarded<T>(
  services: Needs,
  due: DueOnChain,
  work: (services: Needs, due: DueOnChain) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work(services, due);
  } catch (error) {
    services.events.fault("reconcile_fault", error, { part: "expiry", chainId: due.chainId });
    return undefined;
  }
}

async function expireOn(services: Needs, due: DueOnChain, looked: readonly RequestId[]): Promise<number> {
  return await services.uow.run(async (tx) => {
    const overdue = await tx.requests.lockOverdue(due, BATCH, looked);
    for (const record of overdue) await transition(services, tx, record, { kind: "deadlinePassed" });
    return overdue.length;
  });
}
