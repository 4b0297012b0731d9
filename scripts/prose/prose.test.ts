import { expect, test } from "vitest";
import { baselineOf, differences, increases } from "./baseline.ts";
import {
  proseOfHashComments,
  proseOfMarkdown,
  proseOfSolidity,
  proseOfSource,
  type Prose,
} from "./prose-of.ts";
import { nameFinder, rulesOf, textFinder } from "./rules.ts";

const GLOSSARY = `# Glossary

## Words to avoid

| Avoid                 | Write        | Scope |
| --------------------- | ------------ | ----- |
| \`nobody\`, \`whoever\`   | no one       | all   |
| \`lies in\`, \`soon\`     | is in, early | text  |
| \`vanish*\`             | orphaned     | all   |
| \`most\`                | max          | names |
`;
const rules = rulesOf(GLOSSARY);
const findIn = (text: string): string[] => textFinder(rules)(text).map(({ rule }) => rule.avoid);
const inName = (name: string): string[] => nameFinder(rules)(name).map(({ rule }) => rule.avoid);
const ofKind = (prose: readonly Prose[], kind: string): string[] =>
  prose.filter((piece) => piece.kind === kind).map(({ text }) => text);

test("finds words and phrases of the glossary in any case, with line breaks in between", () => {
  expect(findIn("Nobody knows; it lies\n  in a block that vanished.")).toEqual([
    "nobody",
    "lies in",
    "vanish*",
  ]);
});

test("finds no part of a word and no word of another scope", () => {
  expect(findIn("nobodys believesin at most one, anti-nobody")).toEqual([]);
});

test("accepts idioms that contain a refused word", () => {
  expect(findIn("as soon as it is mined")).toEqual([]);
  expect(findIn("soon")).toEqual(["soon"]);
});

test("finds words inside identifiers of every style", () => {
  expect(["nobodyAsked", "NOBODY_ASKED", "mostBytes", "almost", "isSoon"].map(inName)).toEqual([
    ["nobody"],
    ["nobody"],
    ["most"],
    [],
    [],
  ]);
});

test("refuses a glossary without rules, and a rule without a scope", () => {
  expect(() => rulesOf("# Glossary")).toThrow("not found");
  expect(() => rulesOf(GLOSSARY.replace("| all   |", "| some  |"))).toThrow('got "some"');
});

test("reads Markdown without code, and reports lines over 100 columns except tables", () => {
  const long = "word ".repeat(25);
  const prose = proseOfMarkdown(`See \`nobody\`.\n\n\`\`\`sh\nnobody\n\`\`\`\n${long}\n| ${long}\n`);
  expect(ofKind(prose, "docs").flatMap(findIn)).toEqual([]);
  expect(prose.filter(({ kind }) => kind === "wrapping").map(({ line }) => line)).toEqual([6]);
});

test("reads comments, messages and identifiers of a source file, each with its line", () => {
  const prose = proseOfSource(
    "apps/a/src/a.ts",
    'import { x } from "nobody there";\n// nobody\nconst nobodyHere = `whoever ${x} pays`;\nthrow new Error("vanished now");\n',
  );
  expect(ofKind(prose, "comments")).toEqual([" nobody"]);
  expect(ofKind(prose, "messages")).toEqual(["nobody there", "whoever … pays", "vanished now"]);
  expect(prose).toContainEqual({ kind: "names", text: "nobodyHere", line: 3 });
});

test("reads the names of tests in a test file, and no other strings of it", () => {
  const prose = proseOfSource(
    "test/a.test.ts",
    'test("nobody", () => "whoever pays");\ntest.each([1])("soon", () => 0);\ndescribe.skipIf(true)("vanished", () => 0);\n',
  );
  expect(ofKind(prose, "tests")).toEqual(["nobody", "soon", "vanished"]);
  expect(ofKind(prose, "messages")).toEqual([]);
});

test("reports test names that begin with the number of a case", () => {
  const prose = proseOfSource(
    "test/a.test.ts",
    'test("case 4: a", () => 0);\ntest.each([1])("27: %s", () => 0);\ntest("10,000 keys: none is lost", () => 0);\n',
  );
  expect(ofKind(prose, "numbering")).toEqual(["case 4: a", "27: %s"]);
});

test("reports comment lines over 110 columns", () => {
  const prose = proseOfSource("a.ts", `// ${"word ".repeat(22)}\nconst text = "${"word ".repeat(30)}";\n`);
  expect(prose.filter(({ kind }) => kind === "wrapping").map(({ line }) => line)).toEqual([1]);
});

test("reads the comments of a Solidity file, and none of its strings and names", () => {
  const prose = proseOfSolidity(
    '// SPDX-License-Identifier: MIT\n/// @dev nobody\nstring nobody = "// whoever";\n/* soon\n * `vanished` */\n',
  );
  expect(ofKind(prose, "comments").flatMap(findIn)).toEqual(["nobody", "soon"]);
  expect(prose.map(({ line }) => line)).toEqual([2, 4]);
});

test("refuses a source file that cannot be parsed", () => {
  expect(() => proseOfSource("a.ts", "const = ;")).toThrow("a.ts could not be parsed");
});

test("reads the comments of environment and compose files", () => {
  expect(ofKind(proseOfHashComments("#!/bin/sh\n# nobody\nA=nobody\n"), "docs")).toEqual([" nobody"]);
});

const finding = (path: string, kind: Prose["kind"], rule = "nobody") => ({ path, kind, rule, line: 1 });

test("the baseline tolerates comments, test names and identifiers, never what users read", () => {
  const findings = [finding("a.ts", "comments"), finding("a.ts", "names"), finding("a.ts", "messages")];
  expect(baselineOf(findings)).toEqual({
    files: { "a.ts": { comments: 1, names: 1 } },
    rules: { "comments: nobody": 1, "names: nobody": 1 },
  });
});

test("a file differs from the baseline when it has more findings, and when it has fewer", () => {
  const baseline = baselineOf([finding("a.ts", "comments"), finding("b.ts", "tests")]);
  const current = baselineOf([finding("a.ts", "comments"), finding("a.ts", "comments")]);
  expect(differences(baseline, current)).toEqual([
    { path: "a.ts", kind: "comments", was: 1, is: 2 },
    { path: "b.ts", kind: "tests", was: 1, is: 0 },
  ]);
});

test("a rule may only be found less often than before; a new rule may begin with any count", () => {
  const one = baselineOf([finding("a.ts", "comments")]);
  const two = baselineOf([finding("b.ts", "comments"), finding("c.ts", "comments")]);
  expect(increases(one, two)).toEqual(["comments: nobody: 1 → 2"]);
  expect(increases(two, one)).toEqual([]);
  expect(
    increases(one, baselineOf([finding("a.ts", "comments"), finding("a.ts", "comments", "soon")])),
  ).toEqual([]);
});
