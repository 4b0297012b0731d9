import { expect, test } from "vitest";
import { sweepPauseMs } from "./void-sweep-backoff.ts";

test("doubles the delay after each further sweep that moves nothing, up to six hours", () => {
  const minutes = [0, 1, 2, 3, 4, 9, 10, 1_000].map((voids) => sweepPauseMs(voids) / 60_000);
  expect(minutes).toEqual([0, 0, 2, 4, 8, 256, 360, 360]);
});
