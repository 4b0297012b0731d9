import type { z } from "zod";
import type { WorkerServices } from "./services.port.ts";
import type { JobName } from "./job-name.port.ts";
import type { Progress } from "./wait.ts";

export interface JobDefinition {
  readonly name: JobName;
  /** Jobs of this queue that one process runs at a time. */
  readonly concurrency: number;
  /** Tries before the queue gives up on a job; the reconciler queues unfinished work again. */
  readonly attempts: number;
  /** A process runs the jobs that it commits immediately; only unfinished ones are queued. */
  readonly runsAtCommit?: true;
  /** @throws BadPayload if `data` is malformed: a retry would not help */
  readonly run: (services: WorkerServices, data: unknown) => Promise<Progress>;
}

/** Every queue by its name. */
export type Catalog = Readonly<Record<JobName, JobDefinition>>;

/** A job that no version of this code can have queued. */
export class BadPayload extends Error {
  constructor(job: string, problem: string) {
    super(`invariant violated: payload of ${job}: ${problem}`);
    this.name = "BadPayload";
  }
}

/** Declares a queue: what a job holds (ids only), how it is retried, and its use case. */
export function defineJob<Payload>(definition: {
  readonly name: JobName;
  readonly payload: z.ZodType<Payload>;
  readonly concurrency: number;
  readonly attempts: number;
  readonly runsAtCommit?: true | undefined;
  readonly run: (services: WorkerServices, payload: Payload) => Promise<Progress>;
}): JobDefinition {
  const { name, payload, concurrency, attempts, runsAtCommit, run } = definition;
  return {
    name,
    concurrency,
    attempts,
    ...(runsAtCommit && { runsAtCommit }),
    run: async (services, data) => {
      const parsed = payload.safeParse(data);
      if (!parsed.success) throw new BadPayload(name, parsed.error.message);
      return run(services, parsed.data);
    },
  };
}
