import type { OutboxEntry } from "./unit-of-work.port.ts";

/** A row of the outbox. */
export interface StoredJob extends OutboxEntry {
  readonly id: number;
}

/** Takes what a commit of this process left in the outbox to its relay, if this process has one. */
export interface NewJobs {
  /** Whether a relay of this process listens, so that its commits need not be announced to others. */
  isHeard(): boolean;
  /** A commit has left these jobs. */
  committed(jobs: readonly StoredJob[]): void;
  /** @param take undefined: the relay closes */
  listen(take: ((jobs: readonly StoredJob[]) => void) | undefined): void;
  /** Calls `prepare` with jobs that the relay was given. */
  prepareBy(prepare: (jobs: readonly StoredJob[]) => void): void;
}

export function newJobs(): NewJobs {
  let listener: ((jobs: readonly StoredJob[]) => void) | undefined;
  let prepared: ((jobs: readonly StoredJob[]) => void) | undefined;
  return {
    isHeard: () => listener !== undefined,
    committed(jobs) {
      listener?.(jobs);
      prepared?.(jobs);
    },
    listen(take) {
      listener = take;
    },
    prepareBy(prepare) {
      prepared = prepare;
    },
  };
}
