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
 * No plan takes this long from its checks to its nonce (`MAX_AGE_MS` of fills that wait for others). By then,
 * nodes know the payments that the former server stored last, and idle connections to it are closed; ms.
 */
const SETTLE_MS = 60_000;

/** One for all queries of a process. @param nowMs monotonic clock */
export function watchServer(nowMs: () => number = () => performance.now()): ServerWatch {
  let known: string | undefined;
  let identity: string | undefined;
  let newUntilMs = Number.NEGATIVE_INFINITY;
  return {
    isNew(startedAt) {
      if (known !== undefined && known !== startedAt) newUntilMs = nowMs() + SETTLE_MS;
      known = startedAt;
      return nowMs() < newUntilMs;
    },
    noteIdentity(newest) {
      identity = newest;
    },
    identity: () => identity,
  };
}
