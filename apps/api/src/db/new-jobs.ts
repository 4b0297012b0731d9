import { setTimeout as sleep } from "node:timers/promises";
import type { JobName } from "./job-name.port.ts";
import type { OutboxEntry } from "./unit-of-work.port.ts";

/**
 * How long relays leave a job to the process that runs it at its commit; equal to the time after which the
 * queue takes a job from a process that died.
 */
export const COMMIT_LEASE_MS = 5_000;

/** A row of the outbox. */
export interface StoredJob extends OutboxEntry {
  readonly id: number;
}

/** Runs jobs in the process that committed them, without the queue. */
export interface CommitRunner {
  /** Whether it runs jobs of this queue; one for which it has no room is left to the queue. */
  runs(job: JobName): boolean;
  /**
   * Resolves to the pause after which the queue runs the job, in ms; 0 if nothing is left to do. Never
   * rejects. Undefined: the job is left to the queue.
   */
  run(job: StoredJob): Promise<number> | undefined;
}

/** The relay of this process. */
export interface CommitListener {
  /** Whether it can pass jobs on now. Otherwise, it reads them from the table later. */
  isReady(): boolean;
  take(jobs: readonly StoredJob[]): void;
}

/** Hands the jobs that a commit of this process left in the outbox to its relay, if this process has one. */
export interface NewJobs {
  /** Whether a relay of this process listens, so that its commits need not be announced to others. */
  hasRelay(): boolean;
  /** Whether this process runs jobs of this queue at their commit, so that its commits lease them. */
  runsAtCommit(job: JobName): boolean;
  /** A commit has left these jobs. */
  passToRelay(jobs: readonly StoredJob[]): void;
  /** @param listener undefined: the relay closes */
  listen(listener: CommitListener | undefined): void;
  readonly run: CommitRunner["run"];
  /** Resolves when no job runs here at its commit, or after this time in ms. */
  waitForRunning(maxMs: number): Promise<void>;
  /** Runs committed jobs by `runner`. Until then, all are left to the queue. */
  useRunner(runner: CommitRunner): void;
}

export function newJobs(): NewJobs {
  let relay: CommitListener | undefined;
  let commitRunner: CommitRunner | undefined;
  const running = new Set<Promise<number>>();
  return {
    hasRelay: () => relay !== undefined,
    runsAtCommit: (job) => relay?.isReady() === true && commitRunner?.runs(job) === true,
    passToRelay: (jobs) => relay?.take(jobs),
    listen(listener) {
      relay = listener;
    },
    run(job) {
      const begun = commitRunner?.run(job);
      if (begun === undefined) return undefined;
      running.add(begun);
      void begun.finally(() => running.delete(begun));
      return begun;
    },
    async waitForRunning(maxMs) {
      if (running.size === 0) return;
      const timeout = new AbortController();
      await Promise.race([
        Promise.all(running),
        sleep(maxMs, undefined, { ref: false, signal: timeout.signal }).catch(() => undefined),
      ]);
      timeout.abort();
    },
    useRunner(runner) {
      commitRunner = runner;
    },
  };
}
