/** The first pause if an endpoint does not specify one; it doubles while the endpoint keeps refusing. */
const FIRST_PAUSE_MS = 500;
const MAX_DEFAULT_PAUSE_MS = 10_000;
/** Maximum pause, even if an endpoint asks to wait longer (weeks, for a monthly quota). */
const MAX_PAUSE_MS = 60_000;

/**
 * Maximum time that calls wait for the end of a pause; during a longer one they fail immediately, so that a
 * caller can respond in time.
 */
export const MAX_WAIT_MS = 2_500;

/** Tracks when a rate-limited endpoint may be called again. */
export interface EndpointPause {
  /** Milliseconds left of the pause; 0 if the endpoint may be called. */
  leftMs(): number;
  /**
   * The endpoint refused a request that was sent at this time.
   *
   * @param requestedMs the wait that the endpoint requested
   * @param isOverload the endpoint named no limit: concurrent requests may have been served
   */
  recordRefusal(sentAtMs: number, requestedMs: number | undefined, isOverload?: boolean): void;
  /** The endpoint served a request that was sent at this time. */
  recordSuccess(sentAtMs: number): void;
}

/** The fault of a call that is not made because of a pause. */
export function pauseReason(leftMs: number): string {
  return `the endpoint rate-limited this service; try again in ${Math.ceil(leftMs / 1_000)} s`;
}

/**
 * Keeps the pauses of one endpoint. Requests that were pending when a pause began neither lengthen the
 * default pause nor end it.
 * @param now monotonic milliseconds @param random in [0, 1): spreads the ends of pauses, so that several
 * processes do not resume together
 */
export function createEndpointPause(
  now: () => number = () => performance.now(),
  random: () => number = Math.random,
): EndpointPause {
  let beganAtMs = Number.NEGATIVE_INFINITY;
  /** Success of a request sent since this time ends the doubling of pauses. */
  let countsSinceMs = Number.NEGATIVE_INFINITY;
  let untilMs = Number.NEGATIVE_INFINITY;
  let defaultMs = FIRST_PAUSE_MS;
  return {
    leftMs: () => Math.max(0, untilMs - now()),
    recordRefusal: (sentAtMs, requestedMs, isOverload = false) => {
      const isNew = sentAtMs >= beganAtMs;
      if (!isNew && requestedMs === undefined) return;
      // A requested pause is never shortened; a default one varies in both directions.
      const pauseMs =
        requestedMs === undefined
          ? defaultMs * (0.75 + random() / 2)
          : Math.min(Math.max(requestedMs, FIRST_PAUSE_MS / 2), MAX_PAUSE_MS) * (1 + random() / 10);
      if (isNew && requestedMs === undefined) defaultMs = Math.min(defaultMs * 2, MAX_DEFAULT_PAUSE_MS);
      // One bad backend of several fails a part of each burst, which must not lengthen pauses without end.
      if (isNew) countsSinceMs = isOverload ? beganAtMs : now();
      beganAtMs = now();
      untilMs = Math.max(untilMs, beganAtMs + pauseMs);
    },
    recordSuccess: (sentAtMs) => {
      if (sentAtMs >= Math.min(beganAtMs, countsSinceMs)) defaultMs = FIRST_PAUSE_MS;
    },
  };
}
