/** How far the clock may be from the newest block of the closest chain. */
const MAX_DIFFERENCE_MS = 3_600 * 1000;

/**
 * Whether the newest block of any chain confirms the clock, so that a wrong clock deletes nothing by age. One
 * chain is enough: a stalled chain disagrees with a correct clock.
 */
export function isClockPlausible(nowMs: number, newestBlocksMs: readonly number[]): boolean {
  return newestBlocksMs.some((timeMs) => Math.abs(nowMs - timeMs) <= MAX_DIFFERENCE_MS);
}
