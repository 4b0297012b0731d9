import { expect, test } from "vitest";
import { fileDurations, slowest } from "./slow-files.ts";

const output = [
  " ✓ one test 12ms",
  "file took: 0.4 s apps/api/src/a.test.ts",
  "file took: 12.3 s test/integration/b.test.ts",
  "file took: 2.0 s test/integration/c.test.ts",
].join("\n");

test("the slowest files come first", () => {
  expect(slowest(fileDurations(output), 2)).toEqual([
    { seconds: 12.3, name: "test/integration/b.test.ts" },
    { seconds: 2, name: "test/integration/c.test.ts" },
  ]);
});

test("a step that runs no test file has no durations", () => {
  expect(fileDurations("rooms: 40 rules hold\n")).toEqual([]);
});
