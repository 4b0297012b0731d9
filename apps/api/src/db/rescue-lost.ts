import type { JobName } from "./job-name.port.ts";
import type { Overdue } from "./job-runs.port.ts";
import type { Services } from "./services.port.ts";
import type { LostJob } from "./unit-of-work.port.ts";

type Needs = Pick<Services, "uow" | "clock" | "enginePolicy" | "queuedLegs">;

/** Maximum legs queued again per round and queue. */
const BATCH = 500;

/**
 * Queues the jobs of overdue legs again, except those that only wait for their turn. Does nothing while the
 * queue cannot be read: nothing could be published then.
 * @param readOverdue reads the ids of legs unchanged for too long, without a recorded waiting job
 * @returns how many were queued
 */
export async function rescueOverdue(
  { uow, clock, enginePolicy, queuedLegs }: Needs,
  job: JobName,
  readOverdue: (overdue: Overdue, limit: number) => Promise<readonly string[]>,
  payloadOf: (legId: string) => LostJob["payload"],
): Promise<number> {
  const { overdueAfterMs } = enginePolicy;
  const overdueNow = async (limit: number): Promise<readonly string[]> => {
    const nowMs = clock.nowMs();
    return await readOverdue({ nowMs, sinceBeforeMs: nowMs - overdueAfterMs }, limit);
  };
  // Mostly there is none, and the queue need not be read.
  if ((await overdueNow(1)).length === 0) return 0;
  // Read before the legs: a job that is found here and ends in between is checked in the next round.
  const queued = queuedLegs === undefined ? new Set<string>() : await queuedLegs.legIdsOf(job);
  if (queued === undefined) return 0;
  // Legs whose job waits for its turn must not hide lost ones.
  const legIds = await overdueNow(BATCH + queued.size);
  const lost = legIds
    .filter((legId) => !queued.has(legId))
    .slice(0, BATCH)
    .map((legId) => ({ job, legId, payload: payloadOf(legId) }));
  if (lost.length === 0) return 0;
  return await uow.run((tx) => tx.outbox.rescue(lost, clock.nowMs(), overdueAfterMs));
}
