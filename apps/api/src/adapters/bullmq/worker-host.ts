import { DelayedError, UnrecoverableError, Worker } from "bullmq";
import type { Job } from "bullmq";
import { BadPayload } from "../../jobs/define-job.ts";
import type { Catalog, JobDefinition } from "../../jobs/define-job.ts";
import type { Services } from "../../ports/services.ts";
import { workerConnection } from "./connections.ts";

export interface WorkerHost {
  /** Stops taking jobs and waits for those under way. */
  close(): Promise<void>;
}

/**
 * Works on the queues of the catalog. A job that has to wait is put back without using up a try; one that fails is tried again with growing pauses;
 * a process that dies leaves its jobs to be taken over within seconds.
 */
export function startWorkers(
  services: Services,
  catalog: Catalog,
  options: { readonly redisUrl: string; readonly prefix: string },
): WorkerHost {
  const running = Object.values(catalog).map((definition) => {
    const connection = workerConnection(options.redisUrl);
    const worker = new Worker(definition.name, (job, token) => run(services, definition, job, token), {
      connection,
      prefix: options.prefix,
      concurrency: definition.concurrency,
      // A killed process must not keep its jobs for long; the use cases bear it when two processes do the same.
      lockDuration: 5_000,
      stalledInterval: 2_500,
      maxStalledCount: 100,
    });
    worker.on("error", (error) => {
      services.events.fault("job_fault", error, { job: definition.name });
    });
    worker.on("failed", (job, error) => {
      services.events.fault("job_fault", error, { job: definition.name, jobId: job?.id });
    });
    return { worker, connection };
  });
  return {
    async close(): Promise<void> {
      // Without Redis nothing can be taken or handed back: there is nothing to wait for.
      await Promise.all(running.map(({ worker, connection }) => worker.close(connection.status !== "ready")));
      for (const { connection } of running) connection.disconnect();
    },
  };
}

async function run(
  services: Services,
  definition: JobDefinition,
  job: Job<unknown>,
  token: string | undefined,
): Promise<void> {
  const progress = await definition.run(services, job.data).catch((error: unknown) => {
    if (error instanceof BadPayload) throw new UnrecoverableError(error.message);
    throw error;
  });
  // A rescue looks once: whoever rescues looks again later.
  if (progress.waitMs > 0 && !isRescue(job.data)) {
    await job.moveToDelayed(services.clock.nowMs() + progress.waitMs, token);
    throw new DelayedError();
  }
}

function isRescue(data: unknown): boolean {
  return typeof data === "object" && data !== null && "rescue" in data;
}
