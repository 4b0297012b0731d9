/** Histogram buckets for node calls, in ms: from a local node to a call about to time out. */
export const NODE_CALL_BUCKETS_MS: readonly number[] = [
  1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000,
];
