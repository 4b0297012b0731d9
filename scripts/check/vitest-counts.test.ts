import { expect, test } from "vitest";
import { countsOf, summaryLine } from "./vitest-counts.ts";

const report = (parts: object) =>
  JSON.stringify({ numPassedTests: 3, numFailedTests: 0, numPendingTests: 0, testResults: [], ...parts });

test("tests are counted as vitest reports them", () => {
  expect(countsOf(report({ numPendingTests: 2, numTodoTests: 1 }), true)).toEqual({
    passed: 3,
    failed: 0,
    skipped: 3,
  });
});

test("a file that fails before its first test counts as one failure", () => {
  const testResults = [
    { status: "failed", assertionResults: [] },
    { status: "failed", assertionResults: [{}] },
  ];
  expect(countsOf(report({ numFailedTests: 1, testResults }), false).failed).toBe(2);
});

test("a run that failed or left no report never counts as clean", () => {
  expect(countsOf(report({}), false).failed).toBe(1);
  expect(countsOf(undefined, true).failed).toBe(1);
});

test("the last line names skipped tests only when there are some", () => {
  expect(summaryLine({ passed: 4, failed: 0, skipped: 0 })).toBe("4 passed, 0 failed");
  expect(summaryLine({ passed: 4, failed: 1, skipped: 2 })).toBe("4 passed, 1 failed, 2 skipped");
});
