const FIRST_PAUSE_MS = 120_000;
const MAX_PAUSE_MS = 6 * 3600 * 1000;

/**
 * Pause after the last of several sweeps that moved nothing, ms: a paused token would otherwise bring a new
 * request and an alarm every minute. The first void sweep costs none.
 */
export function sweepPauseMs(voidSweeps: number): number {
  if (voidSweeps < 2) return 0;
  return Math.min(FIRST_PAUSE_MS * 2 ** (voidSweeps - 2), MAX_PAUSE_MS);
}
