/** Successful ranges before a larger one is tried; doubles with every refusal of a larger one. */
const INITIAL_SUCCESSES_NEEDED = 16;
const MAX_SUCCESSES_NEEDED = 1_024;

/** The number of blocks that a node accepts in one log query. */
export interface LogRangeSize {
  /** Blocks to request at once; Infinity until a refusal. */
  blocks(): number;
  /**
   * A range of this many blocks succeeded.
   * @param afterRefusal whether a larger range was refused just before
   */
  recordSuccess(blocks: number, afterRefusal: boolean): void;
}

/**
 * Remembers the size that succeeded, and tries to double it occasionally: limits depend on the provider's
 * plan, but also on the number of logs in the blocks. Only a success changes the size, so a node that
 * temporarily refuses everything does not shrink it.
 */
export function createLogRangeSize(): LogRangeSize {
  let limit = Number.POSITIVE_INFINITY;
  let successes = 0;
  let successesNeeded = INITIAL_SUCCESSES_NEEDED;
  let triesLarger = false;
  return {
    blocks: () => limit,
    recordSuccess: (blocks, afterRefusal) => {
      if (afterRefusal) {
        successesNeeded = triesLarger
          ? Math.min(successesNeeded * 2, MAX_SUCCESSES_NEEDED)
          : INITIAL_SUCCESSES_NEEDED;
        limit = blocks;
        successes = 0;
        triesLarger = false;
      } else if (blocks >= limit) {
        triesLarger = false;
        successes += 1;
        if (successes < successesNeeded) return;
        limit *= 2;
        successes = 0;
        triesLarger = true;
      }
    },
  };
}
