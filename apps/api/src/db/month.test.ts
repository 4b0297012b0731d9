import { expect, test } from "vitest";
import { endOfMonth, isMonth, monthAfter, monthOf, startOfMonth } from "./month.ts";

test("a month ends where the next one starts, also at the end of a year", () => {
  expect(monthAfter("2026-12")).toBe("2027-01");
  expect(monthAfter("2026-01", -1)).toBe("2025-12");
  expect(endOfMonth("2026-12")).toBe(startOfMonth("2027-01"));
  expect(monthOf(endOfMonth("2024-02") - 1)).toBe("2024-02");
  expect(monthOf(endOfMonth("2024-02"))).toBe("2024-03");
});

test.each(["2026-13", "2026-00", "2026-1", "26-01", "2026-01-01", ""])("%j is not a month", (text) => {
  expect(isMonth(text)).toBe(false);
});
