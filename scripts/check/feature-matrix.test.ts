import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { matrixProblems, parseFeatureMatrix } from "./feature-matrix.ts";

const docs = resolve(import.meta.dirname, "../../docs");

function sourceOf(file: string): string | undefined {
  const path = resolve(docs, file);
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

test("every pair of features has one row with an existing test or a reason", () => {
  const matrix = parseFeatureMatrix(readFileSync(resolve(docs, "FEATURE_MATRIX.md"), "utf8"));
  expect(matrix.features.length).toBeGreaterThanOrEqual(19);
  expect(matrixProblems(matrix, sourceOf)).toEqual([]);
});

const page = (rows: string): string =>
  `## Features\n\n1. **Refund**: back.\n2. **Reorg**: gone.\n\n## Reorg\n\n| With | What holds | Test |\n| :--- | --- | --- |\n${rows}`;

const problemsOf = (rows: string): readonly string[] =>
  matrixProblems(parseFeatureMatrix(page(rows)), (file) =>
    file === "a.test.ts" ? 'test("pays once", () => {});\ntest("waits", () => {});' : undefined,
  );

test.each([
  "| Refund | Pays once. | [a.test.ts](a.test.ts) `pays once`, `waits` |",
  "| Refund | Pays once. | None: they share nothing. |",
])("accepts a row with tests or a reason: %s", (row) => {
  expect(problemsOf(row)).toEqual([]);
});

test.each([
  ["a missing pair", "", "Reorg × Refund: the pair is missing; add its row"],
  [
    "a pair that is listed twice",
    "| Refund | Holds. | None: a. |\n| Refund | Holds. | None: b. |",
    "Reorg × Refund: the pair is listed 2 times; keep one row",
  ],
  [
    "an unknown feature",
    "| Refund | Holds. | None: a. |\n| Refunds | Holds. | None: b. |",
    "Reorg × Refunds: not a pair; list it in the section of the feature that comes later in the list",
  ],
  [
    "a test file that does not exist",
    "| Refund | Holds. | [b.test.ts](b.test.ts) `pays once` |",
    "Reorg × Refund: b.test.ts does not exist",
  ],
  [
    "a test name that is not in the file",
    "| Refund | Holds. | [a.test.ts](a.test.ts) `pays once`, `pays` |",
    'Reorg × Refund: a.test.ts has no test named "pays"',
  ],
  [
    "a row with neither a test nor a reason",
    "| Refund | Holds. | See the tests. |",
    "Reorg × Refund: the row has no test; cite one as a link and a name in backticks, or write None: and a reason",
  ],
  [
    "an open row",
    "| Refund | Pays once. | [a.test.ts](a.test.ts) `pays once`; Open: no test waits. |",
    "Reorg × Refund: the row is open: write the missing test and cite it, or state a reason with None:",
  ],
  ["a row without a rule", "| Refund |  | None: a. |", "Reorg × Refund: the rule is missing"],
  [
    "a rule that is too long",
    `| Refund | ${"word ".repeat(25)} | None: a. |`,
    "Reorg × Refund: the rule must have at most 24 words, got 25",
  ],
])("reports %s", (_, rows, problem) => {
  expect(problemsOf(rows)).toEqual([problem]);
});
