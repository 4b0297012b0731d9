const FIRST_PAUSE_MS = 120_000;
const MAX_PAUSE_MS = 6 * 3600 * 1000;

/**
 * Pause after consecutive sweeps that moved nothing, ms: a paused token would otherwise cause a new request
 * and an alarm every minute. The first one causes no pause.
 */
export function sweepPauseMs(voidSweeps: number): number {
  if (voidSweeps < 2) return 0;
  return Math.min(FIRST_PAUSE_MS * 2 ** (voidSweeps - 2), MAX_PAUSE_MS);
}
