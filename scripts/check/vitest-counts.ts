/** The parts of vitest's JSON report that are read here. */
interface VitestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests?: number;
  readonly testResults: readonly {
    readonly status: string;
    readonly assertionResults: readonly unknown[];
  }[];
}

/** The number of tests by result. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/**
 * Counts of one vitest run. A file that fails before its first test counts as one failure, and so does a run
 * that fails without a failed test (an unhandled error, no test file at all), so that every problem is
 * counted.
 */
export function countsOf(reportText: string | undefined, exitedCleanly: boolean): Counts {
  if (reportText === undefined) return { passed: 0, failed: 1, skipped: 0 };
  const report = JSON.parse(reportText) as VitestReport;
  const brokenFiles = report.testResults.filter(
    (file) => file.status === "failed" && file.assertionResults.length === 0,
  );
  const failed = report.numFailedTests + brokenFiles.length;
  return {
    passed: report.numPassedTests,
    failed: failed === 0 && !exitedCleanly ? 1 : failed,
    skipped: report.numPendingTests + (report.numTodoTests ?? 0),
  };
}

/** The last line of a check: `12 passed, 0 failed`, and the number of skipped tests if there are any. */
export function summaryLine(counts: Counts): string {
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : "";
  return `${counts.passed} passed, ${counts.failed} failed${skipped}`;
}
