/** Maximum number of attempts after the first. */
export const MAX_RETRIES = 10;
const FIRST_PAUSE_MS = 5_000;
/** Pauses vary by up to this share, so that simultaneous failures are not retried simultaneously. */
const JITTER = 0.1;

/**
 * Pause before the next attempt, ms: 5 s, doubling with every retry, about 85 minutes in total. Undefined:
 * there is no further attempt.
 * @param tries attempts so far, at least 1
 * @param random from 0 to 1
 */
export function pauseAfter(tries: number, random: number): number | undefined {
  if (tries > MAX_RETRIES) return undefined;
  return Math.round(FIRST_PAUSE_MS * 2 ** (tries - 1) * (1 + JITTER * (2 * random - 1)));
}
