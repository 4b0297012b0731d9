/** Successful ranges before a larger one is tried; doubles with every refusal of a larger one. */
const FIRST_PATIENCE = 16;
const MAX_PATIENCE = 1_024;

/** The number of blocks that a node accepts in one log query. */
export interface LogRangeSize {
  /** Blocks to request at once; Infinity until a refusal. */
  blocks(): number;
  /** A range of this many blocks succeeded. @param afterRefusal a larger one was refused just before */
  passed(blocks: number, afterRefusal: boolean): void;
}

/**
 * Remembers the size that succeeded, and tries to double it occasionally: limits depend on the provider's
 * plan, but also on the number of logs in the blocks. Only a success changes the size, so a node that
 * temporarily refuses everything does not shrink it.
 */
export function createLogRangeSize(): LogRangeSize {
  let limit = Number.POSITIVE_INFINITY;
  let passes = 0;
  let patience = FIRST_PATIENCE;
  let triesLarger = false;
  return {
    blocks: () => limit,
    passed: (blocks, afterRefusal) => {
      if (afterRefusal) {
        patience = triesLarger ? Math.min(patience * 2, MAX_PATIENCE) : FIRST_PATIENCE;
        limit = blocks;
        passes = 0;
        triesLarger = false;
      } else if (blocks >= limit) {
        triesLarger = false;
        passes += 1;
        if (passes < patience) return;
        limit *= 2;
        passes = 0;
        triesLarger = true;
      }
    },
  };
}
