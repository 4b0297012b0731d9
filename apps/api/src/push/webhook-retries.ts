/** Attempts after the first. */
export const MAX_RETRIES = 10;
const FIRST_PAUSE_MS = 5_000;
/**
 * Pauses are up to so much shorter or longer, so that many that failed together do not come back together.
 */
const JITTER = 0.1;

/**
 * Pause before the next attempt, ms; undefined when there is none: 5 s, doubling with every retry, about 85
 * minutes in all.
 *
 * @param tries attempts made so far, at least 1
 * @param random from 0 to 1
 */
export function pauseAfter(tries: number, random: number): number | undefined {
  if (tries > MAX_RETRIES) return undefined;
  return Math.round(FIRST_PAUSE_MS * 2 ** (tries - 1) * (1 + JITTER * (2 * random - 1)));
}
