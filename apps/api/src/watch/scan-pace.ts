/** Pause after the first failed scan; it doubles with every further one. */
const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 5_000;
/** A step of few blocks needs few requests, which fit between two refusals of a rate-limited endpoint. */
const MIN_BLOCKS = 8;

/** Adapts the scan speed of one chain to its endpoint. */
export interface ScanPace {
  /** Maximum blocks of a step, which is committed as a whole. */
  maxBlocks(): number;
  /** Reports a failed scan. @returns milliseconds to wait before the next one */
  noteFailure(): number;
  /** Reports a committed step: the next one may start immediately and be larger. */
  noteCommit(): void;
}

/**
 * Halves steps and doubles pauses while scans fail, since a failed step is read again as a whole. Each
 * committed step doubles the next one, even before the newest block is reached, so that a slow endpoint can
 * catch up.
 * @param random in [0, 1): shortens a pause by up to a fifth, so that chains of one endpoint do not retry
 * together
 */
export function createScanPace(maxBlocks: number, random: () => number): ScanPace {
  let blocks = maxBlocks;
  let pauseMs = FIRST_PAUSE_MS;
  return {
    maxBlocks: () => blocks,
    noteFailure: () => {
      const current = pauseMs;
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
      blocks = Math.max(Math.min(MIN_BLOCKS, maxBlocks), Math.floor(blocks / 2));
      return Math.round(current * (1 - random() / 5));
    },
    noteCommit: () => {
      pauseMs = FIRST_PAUSE_MS;
      blocks = Math.min(maxBlocks, blocks * 2);
    },
  };
}
