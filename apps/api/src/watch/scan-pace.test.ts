import { expect, test } from "vitest";
import { createScanPace } from "./scan-pace.ts";

test("doubles pauses up to 5 seconds and shrinks steps to 8 blocks while scans fail", () => {
  const pace = createScanPace(500, () => 0);
  const failures = Array.from({ length: 8 }, () => [pace.noteFailure(), pace.maxBlocks()]);
  expect(failures).toEqual([
    [200, 250],
    [400, 125],
    [800, 62],
    [1_600, 31],
    [3_200, 15],
    [5_000, 8],
    [5_000, 8],
    [5_000, 8],
  ]);
  pace.noteCommit();
  expect([pace.maxBlocks(), pace.noteFailure()]).toEqual([16, 200]);
});

test("grows steps back to the configured size and no further", () => {
  const pace = createScanPace(20, () => 0.5);
  expect([pace.noteFailure(), pace.maxBlocks()]).toEqual([180, 10]);
  pace.noteCommit();
  pace.noteCommit();
  expect(pace.maxBlocks()).toBe(20);
  expect(createScanPace(3, () => 0).maxBlocks()).toBe(3);
});

test("keeps pauses short and grows steps while failing scans commit some of their steps", () => {
  const pace = createScanPace(500, () => 0);
  for (let failure = 0; failure < 6; failure++) pace.noteFailure();
  const pauses = Array.from({ length: 3 }, () => {
    pace.noteCommit();
    return pace.noteFailure();
  });
  expect(pauses).toEqual([200, 200, 200]);
  expect(pace.maxBlocks()).toBe(8);
  const steps = Array.from({ length: 4 }, () => {
    pace.noteCommit();
    return pace.maxBlocks();
  });
  expect(steps).toEqual([16, 32, 64, 128]);
  pace.noteFailure();
  expect([pace.noteFailure(), pace.noteFailure()]).toEqual([400, 800]);
});
