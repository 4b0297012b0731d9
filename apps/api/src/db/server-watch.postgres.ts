/** Detects a failover: plans based on reads from the former database server must not take nonces. */
export interface ServerWatch {
  /**
   * Notes which server answered.
   * @param startedAt start time that the server reports
   * @returns whether this server replaced another one, or restarted, less than a minute ago
   */
  isNew(startedAt: string): boolean;
  /** Notes the identity of the server that answered last. */
  noteIdentity(identity: string): void;
  /** Undefined: no server has answered yet. */
  identity(): string | undefined;
}

/**
 * How long a server counts as new. By then, no plan from before the failover can still get a nonce
 * (`MAX_AGE_MS` in `reserve-slots.ts`), nodes know the payments that the former server stored last, and idle
 * connections to it are closed.
 */
const SETTLE_MS = 60_000;

/** All queries of a process share one watch. @param nowMs monotonic clock */
export function watchServer(nowMs: () => number = () => performance.now()): ServerWatch {
  let lastStartedAt: string | undefined;
  let identity: string | undefined;
  let newUntilMs = Number.NEGATIVE_INFINITY;
  return {
    isNew(startedAt) {
      if (lastStartedAt !== undefined && lastStartedAt !== startedAt) newUntilMs = nowMs() + SETTLE_MS;
      lastStartedAt = startedAt;
      return nowMs() < newUntilMs;
    },
    noteIdentity(newest) {
      identity = newest;
    },
    identity: () => identity,
  };
}
