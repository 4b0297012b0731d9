/** Wakes the relay of this process when a commit leaves jobs in the outbox, if this process has one. */
export interface NewJobs {
  /** Whether a relay of this process listens, so that its commits need not be announced to others. */
  isHeard(): boolean;
  /** A commit has left jobs. */
  committed(): void;
  /** @param wake undefined: the relay closes */
  listen(wake: (() => void) | undefined): void;
}

export function newJobs(): NewJobs {
  let listener: (() => void) | undefined;
  return {
    isHeard: () => listener !== undefined,
    committed: () => listener?.(),
    listen(wake) {
      listener = wake;
    },
  };
}
