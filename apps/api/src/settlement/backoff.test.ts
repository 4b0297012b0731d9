import { expect, test } from "vitest";
import { backoff } from "./backoff.ts";

test("doubles the pause after each failure, up to the maximum, for any number of tries", () => {
  const policy = { retryMs: 1_000, maxRetryMs: 300_000 };
  expect([0, 1, 2, 8, 9, 5_000].map((tries) => backoff(policy, tries))).toEqual([
    1_000, 2_000, 4_000, 256_000, 300_000, 300_000,
  ]);
});
