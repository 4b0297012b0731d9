import { expect, test } from "vitest";
import { pauseAfter } from "./webhook-retries.ts";

test("makes ten retries, doubles the pause each time and takes more than an hour in total", () => {
  const pauses = Array.from({ length: 10 }, (_, index) => pauseAfter(index + 1, 0.5) ?? 0);
  expect(pauses.map((ms) => ms / 1_000)).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1_280, 2_560]);
  expect(pauseAfter(11, 0.5)).toBeUndefined();
  const shortest = pauses.reduce((sum, _, index) => sum + (pauseAfter(index + 1, 0) ?? 0), 0);
  expect(shortest).toBeGreaterThan(3_600_000);
});

test("varies a pause by up to a tenth", () => {
  expect([pauseAfter(1, 0), pauseAfter(1, 1)]).toEqual([4_500, 5_500]);
});
