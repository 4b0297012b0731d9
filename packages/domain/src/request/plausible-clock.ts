/** How far the clock may be from the blocks of every chain. */
const MAX_DIFFERENCE_MS = 3_600 * 1000;

/**
 * Whether the newest block of any chain confirms the clock. What is deleted by age must not be deleted by a
 * clock that is wrong: a chain that stands still disagrees with a right clock, but rarely all of them do.
 */
export function isClockPlausible(nowMs: number, newestBlocksMs: readonly number[]): boolean {
  return newestBlocksMs.some((timeMs) => Math.abs(nowMs - timeMs) <= MAX_DIFFERENCE_MS);
}
