import { expect, test } from "vitest";
import { problemWith, raisedCeilings } from "./ceilings.ts";

test("a figure must equal its ceiling", () => {
  expect(problemWith("mutualPairs", 2, 2)).toBeUndefined();
  expect(problemWith("mutualPairs", 3, 2)).toBe("above its ceiling");
  expect(problemWith("mutualPairs", 1, 2)).toBe("ceiling not lowered");
  expect(problemWith("mutualPairs", 1, undefined)).toBe("no ceiling");
});

test("source lines may be below their ceiling, but not above it", () => {
  expect(problemWith("sourceLines", 1, 2)).toBeUndefined();
  expect(problemWith("sourceLines", 3, 2)).toBe("above its ceiling");
});

test("finds ceilings that the history raised, even if a version in between lacks them", () => {
  expect(raisedCeilings([{ a: 5, b: 1 }, { a: 3 }, { a: 3, b: 2 }, { a: 4, b: 2 }])).toEqual([
    "b: 1 → 2",
    "a: 3 → 4",
  ]);
  expect(raisedCeilings([{ a: 5 }, { a: 3, b: 9 }, { a: 0, b: 9 }])).toEqual([]);
});

test("a commit may raise the ceiling of source lines, because a feature may add lines", () => {
  expect(raisedCeilings([{ sourceLines: 5 }, { sourceLines: 9 }])).toEqual([]);
});
