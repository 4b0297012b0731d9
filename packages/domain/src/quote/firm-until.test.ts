import { expect, test } from "vitest";
import { firmUntil, isFirmAt } from "./firm-until.ts";

test("a quote is firm for the configured time, but not after its last moment to pay", () => {
  expect(firmUntil(1_000, 60, 1_000_000)).toBe(61_000);
  expect(firmUntil(1_000, 60, 5_000)).toBe(5_000);
});

test("a quote is still firm at the last millisecond of its firm time", () => {
  expect(isFirmAt({ firmUntilMs: 61_000 }, 61_000)).toBe(true);
  expect(isFirmAt({ firmUntilMs: 61_000 }, 61_001)).toBe(false);
});
