import type { CurrencyClass } from "@causeway/domain";

/**
 * Maximum difference between a price and a second source or a deep pool, bps. A price with a larger
 * difference is not used between different assets.
 */
export const MAX_DIVERGENCE_BPS: Readonly<Record<CurrencyClass, number>> = {
  stable: 50,
  major: 150,
  minor: 150,
};
