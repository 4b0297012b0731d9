import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { versionsOf } from "./check/file-history.ts";
import { programOptions } from "./program-options.ts";
import {
  baselineOf,
  differences,
  increases,
  TOLERATED,
  type Baseline,
  type Located,
} from "./prose/baseline.ts";
import {
  proseOfHashComments,
  proseOfMarkdown,
  proseOfSolidity,
  proseOfSource,
  type Prose,
} from "./prose/prose-of.ts";
import { nameFinder, rulesOf, textFinder } from "./prose/rules.ts";

/**
 * Refuses the words that docs/GLOSSARY.md says to avoid, lines that are too long, and test names that begin
 * with a number. The baseline, which lists tolerated findings in comments, test names and identifiers, is
 * empty and may not grow.
 */
const BASELINE = "scripts/prose/baseline.json";
const FORMAT_PROBLEMS: Readonly<Record<string, string>> = {
  wrapping: "line is too long",
  numbering: "test name begins with a number; say what the test shows",
};
const root = resolve(import.meta.dirname, "..");
process.chdir(root);

const usage = `usage: npm run prose -- [options]
  --record       write the baseline again; refused when a word was found more often than before
  --list PATH    print every finding whose file begins with PATH, baseline or not`;
const { record, list } = programOptions(
  usage,
  (args) =>
    parseArgs({ args: [...args], options: { record: { type: "boolean" }, list: { type: "string" } } }).values,
);

const rules = rulesOf(readFileSync("docs/GLOSSARY.md", "utf8"));
const inText = textFinder(rules);
const inName = nameFinder(rules);
const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  encoding: "utf8",
})
  .split("\n")
  .filter((path) => isRead(path) && existsSync(path));
const findings = files.flatMap(findingsIn);
const current = baselineOf(findings);

let problems = 0;
for (const finding of findings)
  if (list !== undefined ? finding.path.startsWith(list) : !TOLERATED.has(finding.kind)) report(finding);

const before = versionsOf(BASELINE).map((text) => JSON.parse(text) as Baseline);
for (let version = 1; version < before.length; version++)
  for (const growth of increases(before[version - 1] as Baseline, before[version] as Baseline))
    fail(`${BASELINE}: a version in the history has more findings than the one before it: ${growth}`);

const baseline = JSON.parse(readFileSync(BASELINE, "utf8")) as Baseline;
if (record === true) recordBaseline();
else compareWithBaseline();

const total = (counts: Baseline): number =>
  Object.values(counts.rules).reduce((sum, count) => sum + count, 0);
console.log(
  `prose: ${files.length} files, ${rules.length} rules, ${problems} problems, ${total(current)} findings in the baseline (${before.length} versions)`,
);
if (problems > 0) process.exitCode = 1;

function isRead(path: string): boolean {
  if (/(^|\/)(generated|migrations)\/|THIRD_PARTY|^docs\/GLOSSARY\.md$|^scripts\/prose\//.test(path))
    return false;
  return (
    /\.(md|ts|mjs|cjs|sol)$/.test(path) ||
    /(^|\/)(\.env\.[\w.]+|Dockerfile\.\w+|docker-compose[\w.]*\.yml)$/.test(path)
  );
}

function findingsIn(path: string): readonly Located[] {
  const text = readFileSync(join(root, path), "utf8");
  return proseOf(path, text).flatMap<Located>(({ kind, text: prose, line }) => {
    if (kind === "wrapping" || kind === "numbering") return [{ path, kind, line, rule: kind }];
    const found = kind === "names" ? inName(prose) : inText(prose);
    return found.map(({ at, rule }) => ({
      path,
      kind,
      line: line + (kind === "names" ? 0 : prose.slice(0, at).split("\n").length - 1),
      rule: rule.avoid,
    }));
  });
}

function proseOf(path: string, text: string): readonly Prose[] {
  if (path.endsWith(".md")) return proseOfMarkdown(text);
  if (path.endsWith(".sol")) return proseOfSolidity(text);
  return /\.(ts|mjs|cjs)$/.test(path) ? proseOfSource(path, text) : proseOfHashComments(text);
}

function report({ path, line, kind, rule }: Located): void {
  const write = rules.find(({ avoid }) => avoid === rule)?.write;
  fail(
    `${path}:${line} ${kind}: ${write === undefined ? FORMAT_PROBLEMS[rule] : `"${rule}": write ${write}`}`,
  );
}

function fail(problem: string): void {
  problems++;
  console.error(problem);
}

function compareWithBaseline(): void {
  for (const { path, kind, was, is } of differences(baseline, current)) {
    fail(
      is > was
        ? `${path}: ${is} findings in ${kind}, the baseline has ${was}`
        : `${path}: ${is} findings in ${kind}, the baseline has ${was}: run "npm run prose -- --record"`,
    );
    if (is > was)
      findings.filter((finding) => finding.path === path && finding.kind === kind).forEach(report);
  }
}

function recordBaseline(): void {
  const growths = increases(baseline, current);
  for (const growth of growths) fail(`refused to record more findings than before: ${growth}`);
  if (growths.length === 0) writeFileSync(BASELINE, `${JSON.stringify(current, null, 2)}\n`);
}
