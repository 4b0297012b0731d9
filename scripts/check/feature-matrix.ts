/** Reads the feature matrix: which pairs of features it lists, and which tests it cites for them. */

interface CitedTest {
  /** Its path as linked from the page. */
  readonly file: string;
  readonly name: string;
}

interface MatrixRow {
  readonly feature: string;
  readonly other: string;
  readonly rule: string;
  readonly tests: readonly CitedTest[];
  readonly hasReason: boolean;
  /** Neither tested nor excluded yet. */
  readonly isOpen: boolean;
}

interface FeatureMatrix {
  readonly features: readonly string[];
  readonly rows: readonly MatrixRow[];
}

const MAX_RULE_WORDS = 24;

export function parseFeatureMatrix(markdown: string): FeatureMatrix {
  const features: string[] = [];
  const rows: MatrixRow[] = [];
  let section = "";
  for (const line of markdown.split("\n")) {
    section = /^## (.+)$/.exec(line)?.[1] ?? section;
    const listed = section === "Features" ? /^\d+\. \*\*(.+?)\*\*/.exec(line)?.[1] : undefined;
    if (listed !== undefined) features.push(listed);
    const row = section === "Features" ? undefined : readRow(section, line);
    if (row !== undefined) rows.push(row);
  }
  return { features, rows };
}

function readRow(feature: string, line: string): MatrixRow | undefined {
  if (!line.startsWith("|")) return undefined;
  const [other = "", rule = "", test = ""] = line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
  if (other === "With" || /^:?-+:?$/.test(other)) return undefined;
  const tests = [...test.matchAll(/\[[^\]]+\]\(([^)]+)\)((?:,? ?`[^`]+`)+)/g)].flatMap(
    ([, file = "", names = ""]) => [...names.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => ({ file, name })),
  );
  return {
    feature,
    other,
    rule,
    tests,
    hasReason: /(?:^|; )None: \S/.test(test),
    isOpen: /\bOpen:/.test(test),
  };
}

/**
 * All problems of a matrix, each with its remedy.
 * @param sourceOf the text of a cited file; undefined: it does not exist
 */
export function matrixProblems(
  { features, rows }: FeatureMatrix,
  sourceOf: (file: string) => string | undefined,
): readonly string[] {
  return [...pairProblems(features, rows), ...rows.flatMap((row) => rowProblems(row, sourceOf))];
}

function pairProblems(features: readonly string[], rows: readonly MatrixRow[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const [index, feature] of features.entries())
    for (const other of features.slice(0, index)) counts.set(`${feature} × ${other}`, 0);
  const problems: string[] = [];
  for (const { feature, other } of rows) {
    const pair = `${feature} × ${other}`;
    const count = counts.get(pair);
    if (count === undefined)
      problems.push(
        `${pair}: not a pair; list it in the section of the feature that comes later in the list`,
      );
    else counts.set(pair, count + 1);
  }
  for (const [pair, count] of counts) {
    if (count === 0) problems.push(`${pair}: the pair is missing; add its row`);
    if (count > 1) problems.push(`${pair}: the pair is listed ${count} times; keep one row`);
  }
  return problems;
}

function rowProblems(
  { feature, other, rule, tests, hasReason, isOpen }: MatrixRow,
  sourceOf: (file: string) => string | undefined,
): readonly string[] {
  const problems: string[] = [];
  const words = rule.split(/\s+/).length;
  if (rule === "") problems.push("the rule is missing");
  if (words > MAX_RULE_WORDS)
    problems.push(`the rule must have at most ${MAX_RULE_WORDS} words, got ${words}`);
  if (isOpen)
    problems.push("the row is open: write the missing test and cite it, or state a reason with None:");
  else if (tests.length === 0 && !hasReason)
    problems.push(
      "the row has no test; cite one as a link and a name in backticks, or write None: and a reason",
    );
  for (const { file, name } of tests) {
    const source = sourceOf(file);
    if (source === undefined) problems.push(`${file} does not exist`);
    else if (!['"', "'", "`"].some((quote) => source.includes(quote + name + quote)))
      problems.push(`${file} has no test named "${name}"`);
  }
  return problems.map((problem) => `${feature} × ${other}: ${problem}`);
}
