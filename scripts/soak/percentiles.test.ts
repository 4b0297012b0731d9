import { expect, test } from "vitest";
import { percentilesOf } from "./percentiles.ts";

test("pN is the smallest value that at least N percent of the values do not exceed", () => {
  const values = Array.from({ length: 200 }, (_, index) => 200 - index);
  expect(percentilesOf(values)).toEqual({ count: 200, p50: 100, p90: 180, p99: 198, max: 200 });
});

test("every percentile of a single value is that value", () => {
  expect(percentilesOf([3])).toEqual({ count: 1, p50: 3, p90: 3, p99: 3, max: 3 });
});

test("without values there are no percentiles", () => {
  expect(percentilesOf([])).toBeUndefined();
});
