import type { Clock } from "../../db/clock.port.ts";

export interface BurstOptions {
  /** This many callers within `withinMs` pass immediately; more are a burst. */
  readonly atOnce: number;
  readonly withinMs: number;
  /** A burst is held for this time (ms) from its first caller, then passes together. */
  readonly heldMs: number;
}

/**
 * Lets single callers pass immediately and bursts a little later together: work for many at once costs a
 * fraction per caller, and later callers do not wait for earlier work.
 * @returns resolves when it is the caller's turn; never rejects
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
