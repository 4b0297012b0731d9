import type { OutboxEntry } from "./unit-of-work.port.ts";

/** A row of the outbox. */
export interface StoredJob extends OutboxEntry {
  readonly id: number;
}

/**
 * Runs a job in the process that committed it, without the queue. Resolves to whether nothing is left to do;
 * never rejects. Undefined: the job is left to the queue.
 */
export type RunCommitted = (job: StoredJob) => Promise<boolean> | undefined;

/** Takes what a commit of this process left in the outbox to its relay, if this process has one. */
export interface NewJobs {
  /** Whether a relay of this process listens, so that its commits need not be announced to others. */
  isHeard(): boolean;
  /** A commit has left these jobs. */
  committed(jobs: readonly StoredJob[]): void;
  /** @param take undefined: the relay closes */
  listen(take: ((jobs: readonly StoredJob[]) => void) | undefined): void;
  readonly run: RunCommitted;
  /** Runs committed jobs by `run`. Until then, all are left to the queue. */
  runBy(run: RunCommitted): void;
}

export function newJobs(): NewJobs {
  let listener: ((jobs: readonly StoredJob[]) => void) | undefined;
  let runner: RunCommitted | undefined;
  return {
    isHeard: () => listener !== undefined,
    committed: (jobs) => listener?.(jobs),
    listen(take) {
      listener = take;
    },
    run: (job) => runner?.(job),
    runBy(run) {
      runner = run;
    },
  };
}
