import { expect, test } from "vitest";
import { coresIn, readProcessTimes } from "./cores.ts";

test("a list of cores is read with its ranges", () => {
  expect(coresIn("0-3,8")).toEqual([0, 1, 2, 3, 8]);
  expect(coresIn("1")).toEqual([1]);
  expect(coresIn("")).toEqual([]);
});

test("reads the parent and the times of a process whose name has spaces and parentheses", () => {
  const stat = "12 (a (b) c) S 7 12 12 0 -1 4194560 100 200 0 0 150 50 30 20 20 0 1 0 99 1 1";
  expect(readProcessTimes(stat)).toEqual({ parentPid: 7, ownSeconds: 2, endedChildrenSeconds: 0.5 });
});
