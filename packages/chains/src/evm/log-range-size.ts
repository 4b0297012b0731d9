/** Parts that must pass before a larger one is tried; doubles with every larger one that is refused. */
const FIRST_PATIENCE = 16;
const MAX_PATIENCE = 1_024;

/** How many blocks one node answers about in one log query. */
export interface LogRangeSize {
  /** Blocks to ask about at once; Infinity while nothing was refused. */
  blocks(): number;
  /** A part of this many blocks was answered. @param afterRefusal a larger one was refused just before */
  passed(blocks: number, afterRefusal: boolean): void;
}

/**
 * Remembers the size that passed, and doubles it once in a while: limits depend on the provider's plan, but
 * also on how many logs the blocks hold. A size counts only when it passed, so a node that refuses everything
 * for a time shrinks nothing.
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
