/**
 * Requests from a chain that is not configured expire this long after their deadline by the clock: no worker
 * reads its blocks.
 */
export const UNCONFIGURED_CHAIN_GRACE_MS = 24 * 3_600 * 1000;

/** What is known of a chain that requests wait for deposits on. */
export interface OriginFacts {
  readonly isConfigured: boolean;
  /** Time of the newest block that was read; undefined: none was read yet. */
  readonly newestBlockMs: number | undefined;
}

/**
 * Requests with a deadline before this time may expire. A deposit made in time may be in a block that no
 * worker has read yet, so the blocks must have passed the deadline as well as the clock. Undefined: none may
 * expire.
 */
export function expiresBefore(
  { isConfigured, newestBlockMs }: OriginFacts,
  { nowMs, graceMs }: { readonly nowMs: number; readonly graceMs: number },
): number | undefined {
  if (!isConfigured) return nowMs - graceMs - UNCONFIGURED_CHAIN_GRACE_MS;
  if (newestBlockMs === undefined) return undefined;
  return Math.min(nowMs - graceMs, newestBlockMs);
}
