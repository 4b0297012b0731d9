import { DelayedError, UnrecoverableError, Worker } from "bullmq";
import type { Job } from "bullmq";
import { setTimeout as sleep } from "node:timers/promises";
import { BadPayload } from "./define-job.job.ts";
import type { Catalog, JobDefinition } from "./define-job.job.ts";
import type { JobRuns, LegJob } from "./job-runs.port.ts";
import type { JobName } from "./job-name.port.ts";
import { concurrencyLimit, type ConcurrencyLimit } from "./concurrency-limit.ts";
import { COMMIT_LEASE_MS, type CommitRunner, type StoredJob } from "./new-jobs.ts";
import type { WorkerServices } from "./services.port.ts";
import { workerConnection } from "./connections.adapter.ts";
import type { RedisEndpoint } from "./redis-endpoint.port.ts";

/** A job counts as lost if it has not run again this long after it was due. */
const LOST_AFTER_MS = 60_000;
/** Pause before the queue runs a job that failed at its commit. */
const FAILED_AT_COMMIT_MS = 250;
/** How long Redis may take to record the last jobs when the host closes; jobs without a record run again. */
const CLOSE_WITHIN_MS = 2_000;

export interface WorkerHost {
  /** Jobs run at commit use the concurrency that the queue's own jobs leave free. */
  readonly commitRunner: CommitRunner;
  /** Stops taking jobs and waits for those in progress. */
  close(): Promise<void>;
}

/**
 * Runs the jobs of the catalog's queues. A waiting job goes back without using up a try; a failed one is
 * retried with growing pauses; the jobs of a process that dies are taken over within seconds.
 */
export function startWorkers(
  services: WorkerServices,
  catalog: Catalog,
  options: { readonly redis: RedisEndpoint; readonly prefix: string; readonly runs: JobRuns },
): WorkerHost {
  const jobs = new Set<Promise<unknown>>();
  // Shared by commits and the queue, so that a slow node gets no more requests than from the queue alone.
  const limits = new Map<JobName, ConcurrencyLimit>();
  const track = async <T>(done: Promise<T>): Promise<T> => {
    jobs.add(done);
    return await done.finally(() => jobs.delete(done));
  };
  let isClosing = false;
  const hosted = Object.values(catalog).map((definition) => {
    const limit = concurrencyLimit(definition.concurrency);
    limits.set(definition.name, limit);
    const connection = workerConnection(options.redis);
    const worker = new HostedWorker(
      definition.name,
      async (job, token) => {
        const waitMs = await track(limit.run(async () => await run(services, definition, options.runs, job)));
        if (waitMs === undefined) return;
        await job.moveToDelayed(services.clock.nowMs() + waitMs, token);
        throw new DelayedError();
      },
      {
        connection,
        prefix: options.prefix,
        concurrency: definition.concurrency,
        // A killed process must not keep its jobs for long; the use cases tolerate two processes doing the
        // same work.
        lockDuration: COMMIT_LEASE_MS,
        stalledInterval: 2_500,
        maxStalledCount: 100,
      },
    );
    worker.on("error", (error) => {
      services.events.fault("job_fault", error, { job: definition.name });
    });
    worker.on("failed", (job, error) => {
      services.events.fault("job_fault", error, { job: definition.name, jobId: job?.id });
    });
    return { worker, connection };
  });
  return {
    commitRunner: {
      runs: (job) => !isClosing && catalog[job]?.runsAtCommit === true,
      run(stored) {
        const { job } = stored;
        const definition = catalog[job];
        if (isClosing || definition?.runsAtCommit !== true) return undefined;
        const begun = limits
          .get(job)
          ?.tryRun(async () => await runAtCommit(services, definition, options.runs, stored));
        return begun && track(begun);
      },
    },
    async close(): Promise<void> {
      isClosing = true;
      // Without Redis no job can be taken or returned.
      const closed = Promise.all(
        hosted.map(({ worker, connection }) => worker.close(connection.status !== "ready")),
      );
      // A worker whose blocking connection is reconnecting never closes: ioredis does not report its end.
      const deadline = (async () => {
        while (jobs.size > 0) await Promise.allSettled(jobs);
        await sleep(CLOSE_WITHIN_MS, undefined, { ref: false });
      })();
      closed.catch(() => undefined);
      await Promise.race([closed, deadline]);
      // A worker may have taken a job in the meantime, and closes without waiting for its jobs if Redis is
      // unavailable.
      while (jobs.size > 0) await Promise.allSettled(jobs);
      for (const { worker, connection } of hosted) {
        await worker.stopTimers();
        connection.disconnect();
      }
    },
  };
}

class HostedWorker extends Worker<unknown, void> {
  /** A worker that never closes renews its locks forever, which keeps the process alive. */
  async stopTimers(): Promise<void> {
    await this.lockManager.close();
  }
}

/**
 * Runs a job without Redis.
 * @returns the pause before the job runs again; undefined if it ended
 */
async function run(
  services: WorkerServices,
  definition: JobDefinition,
  runs: JobRuns,
  job: Job<unknown>,
): Promise<number | undefined> {
  const leg = legOf(definition.name, job.id ?? "", job.data);
  const record = async (note: (nowMs: number) => Promise<boolean>) => await noteRun(services, leg, note);
  const { waitMs } = await definition.run(services, job.data).catch(async (error: unknown) => {
    if (error instanceof BadPayload) throw new UnrecoverableError(error.message);
    const isTriedAgain = job.attemptsMade + 1 < (job.opts.attempts ?? 1);
    await record(async (nowMs) => {
      if (isTriedAgain) await runs.noteWaiting(leg, nowMs, nowMs + LOST_AFTER_MS);
      else await runs.noteFailed(leg, nowMs);
      return true;
    });
    throw error;
  });
  if (waitMs === 0) return undefined;
  const isKept = await record(async (nowMs) => {
    const lostAfterMs = nowMs + waitMs + LOST_AFTER_MS;
    // A job that was queued again ends if another one waits for the leg.
    if (isRescue(job.data)) return await runs.takeOver(leg, nowMs, lostAfterMs);
    await runs.noteWaiting(leg, nowMs, lostAfterMs);
    return true;
  });
  return isKept ? waitMs : undefined;
}

/**
 * Runs a job at its commit. Never rejects.
 * @returns the pause before the queue runs it, in ms; 0: nothing is left to do
 */
async function runAtCommit(
  services: WorkerServices,
  definition: JobDefinition,
  runs: JobRuns,
  { job, jobId, payload }: StoredJob,
): Promise<number> {
  const leg = legOf(job, jobId, payload);
  const waitMs = await definition.run(services, payload).then(
    (progress) => progress.waitMs,
    (error: unknown) => {
      services.events.fault("job_fault", error, { job, jobId });
      return FAILED_AT_COMMIT_MS;
    },
  );
  if (waitMs > 0)
    await noteRun(services, leg, async (nowMs) => {
      await runs.noteWaiting(leg, nowMs, nowMs + waitMs + LOST_AFTER_MS);
      return true;
    });
  return waitMs;
}

/** @returns what `note` returns; true if it fails */
async function noteRun(
  services: WorkerServices,
  leg: LegJob,
  note: (nowMs: number) => Promise<boolean>,
): Promise<boolean> {
  try {
    return await note(services.clock.nowMs());
  } catch (error) {
    // At worst the leg gets a second job, which changes nothing.
    services.events.fault("job_fault", error, { job: leg.job, jobId: leg.jobId });
    return true;
  }
}

function legOf(job: JobName, jobId: string, data: unknown): LegJob {
  const [legId] = typeof data === "object" && data !== null ? Object.values(data) : [];
  return { job, legId: String(legId), jobId };
}

/** Whether the reconciler queued the job again. */
export function isRescue(data: unknown): boolean {
  return typeof data === "object" && data !== null && "rescue" in data;
}
