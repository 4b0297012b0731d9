/** Pause after the first fault of a scan; it doubles with every further one. */
const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 5_000;
/** A step of few blocks needs few requests, so that it passes between two refusals of a limited endpoint. */
const MIN_BLOCKS = 8;

/** How fast one chain is scanned, by how its endpoint answers. */
export interface ScanPace {
  /** Blocks of one step, which is committed as a whole. */
  maxBlocks(): number;
  /** A scan failed. @returns milliseconds to wait before the next one */
  failed(): number;
  /** A step was committed: the endpoint serves enough to go on with at once, and perhaps a larger one. */
  advanced(): void;
}

/**
 * Halves the steps and doubles the pauses while scans fail: a step that was not committed is read again as a
 * whole, and would bring the same refusal with the same load. Each committed step lets the next one grow by
 * doubling, also before the newest block is reached: small steps at a slow endpoint take longer than their
 * blocks took to be made. Pauses double only while nothing is committed, for the same reason.
 * @param random in [0, 1): shortens a pause by up to a fifth, so that several chains of one endpoint do not
 * return together
 */
export function createScanPace(maxBlocks: number, random: () => number): ScanPace {
  let blocks = maxBlocks;
  let pauseMs = FIRST_PAUSE_MS;
  return {
    maxBlocks: () => blocks,
    failed: () => {
      const current = pauseMs;
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
      blocks = Math.max(Math.min(MIN_BLOCKS, maxBlocks), Math.floor(blocks / 2));
      return Math.round(current * (1 - random() / 5));
    },
    advanced: () => {
      pauseMs = FIRST_PAUSE_MS;
      blocks = Math.min(maxBlocks, blocks * 2);
    },
  };
}
