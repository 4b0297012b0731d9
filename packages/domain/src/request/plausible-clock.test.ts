import { expect, test } from "vitest";
import { isClockPlausible } from "./plausible-clock.ts";

const NOW_MS = 1_700_000_000_000;
const HOUR_MS = 3_600_000;

test("a clock within an hour of the newest block of any chain is plausible", () => {
  expect(isClockPlausible(NOW_MS, [NOW_MS - HOUR_MS])).toBe(true);
  expect(isClockPlausible(NOW_MS, [NOW_MS + HOUR_MS])).toBe(true);
  expect(isClockPlausible(NOW_MS, [NOW_MS - 90 * HOUR_MS, NOW_MS - 12_000]), "one chain has stalled").toBe(
    true,
  );
});

test("a clock more than an hour from every chain's newest block is implausible, and so is one without any block", () => {
  expect(isClockPlausible(NOW_MS, [NOW_MS - HOUR_MS - 1, NOW_MS + HOUR_MS + 1])).toBe(false);
  expect(isClockPlausible(NOW_MS, [])).toBe(false);
});
