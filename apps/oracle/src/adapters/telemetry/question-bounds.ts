/**
 * Buckets for whatever waits on a chain's node: from one beside us to one that is about to be given up. ms
 */
export const QUESTION_BOUNDS_MS: readonly number[] = [
  1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000,
];
