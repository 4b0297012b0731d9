const FIRST_PAUSE_MS = 120_000;
const MAX_PAUSE_MS = 6 * 3600 * 1000;

/**
 * Pause in ms after `voidSweeps` consecutive sweeps that moved nothing: otherwise a paused token would cause
 * a new request and an alarm every minute. The first such sweep causes no pause.
 */
export function sweepPauseMs(voidSweeps: number): number {
  if (voidSweeps < 2) return 0;
  return Math.min(FIRST_PAUSE_MS * 2 ** (voidSweeps - 2), MAX_PAUSE_MS);
}
