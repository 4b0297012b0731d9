import type { Clock } from "../../db/clock.port.ts";

export interface BurstOptions {
  /** So many within `withinMs` go at once; what comes beyond that is a burst. */
  readonly atOnce: number;
  readonly withinMs: number;
  /** What belongs to a burst is held until so much time after its first, ms, and then goes together. */
  readonly heldMs: number;
}

/**
 * Lets single comers pass at once, and those of a burst together a little later: what is done for many at
 * once costs a fraction for each, and whoever is still coming is not kept waiting by what is done for those
 * before.
 * @returns settles when it is the caller's turn; never rejects
 */
export function burstGate(
  clock: Pick<Clock, "nowMs">,
  { atOnce, withinMs, heldMs }: BurstOptions,
): () => Promise<void> {
  let passedAtMs: number[] = [];
  let wave: Promise<void> | undefined;
  return async () => {
    if (wave !== undefined) return await wave;
    const nowMs = clock.nowMs();
    passedAtMs = passedAtMs.filter((atMs) => nowMs - atMs < withinMs);
    if (passedAtMs.length < atOnce) {
      passedAtMs.push(nowMs);
      return;
    }
    wave = new Promise((resolve) => {
      setTimeout(() => {
        wave = undefined;
        resolve();
      }, heldMs);
    });
    return await wave;
  };
}
