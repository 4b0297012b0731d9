/**
 * Which database server answers: after a failover, plans made with what the former one said must not take
 * nonces.
 */
export interface ServerWatch {
  /**
   * Notes who answered.
   * @param startedAt when it started, as it says it itself
   * @returns whether this server took the place of another one, or started again, less than a minute ago
   */
  isNew(startedAt: string): boolean;
}

/**
 * No plan takes so long from its checks to its nonce, and what the former server knew last is in the pool by
 * then; ms.
 */
const SETTLE_MS = 60_000;

/** One for all queries of a process. @param nowMs a clock that never goes back */
export function watchServer(nowMs: () => number = () => performance.now()): ServerWatch {
  let known: string | undefined;
  let newUntilMs = Number.NEGATIVE_INFINITY;
  return {
    isNew(startedAt) {
      if (known !== undefined && known !== startedAt) newUntilMs = nowMs() + SETTLE_MS;
      known = startedAt;
      return nowMs() < newUntilMs;
    },
  };
}
