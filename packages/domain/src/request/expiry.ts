/**
 * Requests from a chain that is not configured expire this long after their deadline, by the clock alone,
 * because no worker reads the chain's blocks.
 */
export const UNCONFIGURED_CHAIN_GRACE_MS = 24 * 3_600 * 1000;

/** Facts about a chain on which requests wait for deposits. */
export interface OriginFacts {
  readonly isConfigured: boolean;
  /** Time of the newest block that was read; undefined before the first. */
  readonly newestBlockMs: number | undefined;
}

/**
 * Requests with a deadline before this time (ms since epoch) may expire; undefined if none may. A deposit in
 * time may be in a block that no worker has read yet, so both the read blocks and the clock must have passed
 * the deadline.
 */
export function expiresBefore(
  { isConfigured, newestBlockMs }: OriginFacts,
  { nowMs, graceMs }: { readonly nowMs: number; readonly graceMs: number },
): number | undefined {
  if (!isConfigured) return nowMs - graceMs - UNCONFIGURED_CHAIN_GRACE_MS;
  if (newestBlockMs === undefined) return undefined;
  return Math.min(nowMs - graceMs, newestBlockMs);
}
