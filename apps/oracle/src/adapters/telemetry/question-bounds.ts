/** Buckets for calls to a chain's node: from a local one to one about to time out. ms */
export const QUESTION_BOUNDS_MS: readonly number[] = [
  1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000,
];
