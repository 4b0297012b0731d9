import { parseSync } from "oxc-parser";

/**
 * The prose of a file: users read docs and messages; contributors read comments, test names and identifiers.
 */
export type Kind = "docs" | "messages" | "comments" | "tests" | "names" | "wrapping" | "numbering";

/** One piece of prose, or one identifier, and where it begins in its file. */
export interface Prose {
  readonly kind: Kind;
  readonly text: string;
  readonly line: number;
}

const COMMENT_COLUMNS = 110;
const DOC_COLUMNS = 100;
const TEST_CALLS = new Set(["test", "it", "describe"]);

/** The prose of a Markdown file: no code blocks, inline code, link targets or HTML tags. */
export function proseOfMarkdown(text: string): readonly Prose[] {
  const lines = text.split("\n");
  const found: Prose[] = [];
  let isCode = false;
  lines.forEach((line, index) => {
    if (/^\s*(```|~~~)/.test(line)) isCode = !isCode;
    else if (!isCode) {
      found.push({ kind: "docs", text: withoutCode(line), line: index + 1 });
      if (isTooLong(line)) found.push({ kind: "wrapping", text: line, line: index + 1 });
    }
  });
  return found;
}

/** The prose of a file whose comments begin with `#`: environment files, compose files, Dockerfiles. */
export function proseOfHashComments(text: string): readonly Prose[] {
  return text.split("\n").flatMap((line, index) => {
    const comment = /^\s*#(?!!)(.*)$/.exec(line)?.[1];
    return comment === undefined
      ? []
      : [{ kind: "docs" as const, text: withoutCode(comment), line: index + 1 }];
  });
}

/** The comments of a Solidity file. */
export function proseOfSolidity(text: string): readonly Prose[] {
  const lineOf = lineFinder(text);
  // String literals come first, because they may contain what looks like a comment.
  const tokens = text.matchAll(/"(?:[^"\\\n]|\\.)*"|\/\/([^\n]*)|\/\*([\s\S]*?)\*\//g);
  const comments = [...tokens].flatMap<Prose>(({ index, 1: line, 2: block }) => {
    const comment = line ?? block;
    if (comment === undefined || comment.includes("SPDX-License-Identifier")) return [];
    return [{ kind: "comments", text: withoutCode(comment), line: lineOf(index) }];
  });
  return [...comments, ...longComments(text)];
}

/**
 * The prose of a TypeScript or JavaScript file. In a test file, the names of its tests count as well; string
 * literals with a space count as messages only where users read them, in files that are not tests.
 *
 * @throws Error if the file cannot be parsed
 */
export function proseOfSource(path: string, text: string): readonly Prose[] {
  const { program, comments, errors } = parseSync(path, text);
  const [problem] = errors;
  if (problem !== undefined) throw new Error(`${path} could not be parsed: ${problem.message}`);
  const lineOf = lineFinder(text);
  const isTest = /\.test\.ts$|^test\//.test(path);
  const found: Prose[] = comments.map(({ value, start }) => ({
    kind: "comments",
    text: withoutCode(value),
    line: lineOf(start),
  }));
  found.push(...longComments(text));
  const names = new Map<string, number>();
  visit(program, (node) => {
    const start = node.start ?? 0;
    if (node.type === "Identifier" && typeof node["name"] === "string") {
      if (!names.has(node["name"])) names.set(node["name"], lineOf(start));
    } else if (isTest && node.type === "CallExpression" && isTestCall(node["callee"])) {
      const [name] = node["arguments"] as readonly (Node | undefined)[];
      const written = name === undefined ? undefined : textOf(name);
      if (written === undefined) return;
      found.push({ kind: "tests", text: written, line: lineOf(start) });
      // Such a number refers to a list that the reader does not have.
      if (/^(?:case )?\d+[a-z]?: /i.test(written))
        found.push({ kind: "numbering", text: written, line: lineOf(start) });
    } else if (!isTest) {
      const message = textOf(node);
      if (message?.includes(" ") === true && !isSql(path, message))
        found.push({ kind: "messages", text: withoutCode(message), line: lineOf(start) });
    }
  });
  for (const [name, line] of names) found.push({ kind: "names", text: name, line });
  return found;
}

function longComments(text: string): readonly Prose[] {
  return text.split("\n").flatMap<Prose>((line, index) => {
    const isLong = line.length > COMMENT_COLUMNS && !/\S{80,}/.test(line);
    return isLong && /^\s*(\/\/|\/\*|\*)/.test(line)
      ? [{ kind: "wrapping", text: line, line: index + 1 }]
      : [];
  });
}

interface Node {
  readonly type: string;
  readonly start?: number;
  readonly [key: string]: unknown;
}

function visit(value: unknown, onNode: (node: Node) => void): void {
  if (Array.isArray(value)) for (const item of value) visit(item, onNode);
  else if (typeof value === "object" && value !== null && "type" in value) {
    const node = value as Node;
    onNode(node);
    for (const key in node) if (typeof node[key] === "object") visit(node[key], onNode);
  }
}

/** `test(…)`, `test.each(…)(…)`, `describe.skipIf(…)(…)`. */
function isTestCall(callee: unknown): boolean {
  const node = callee as Node;
  if (node.type === "Identifier") return TEST_CALLS.has(node["name"] as string);
  if (node.type === "MemberExpression") return isTestCall(node["object"]);
  return node.type === "CallExpression" && isTestCall(node["callee"]);
}

/** The text of a string literal or of a template without its placeholders. */
function textOf(node: Node): string | undefined {
  if (node.type === "Literal") return typeof node["value"] === "string" ? node["value"] : undefined;
  if (node.type !== "TemplateLiteral") return undefined;
  const quasis = node["quasis"] as readonly { readonly value: { readonly raw: string } }[];
  return quasis.map(({ value }) => value.raw).join("…");
}

/** Names of tables and columns are not read by users; migrations would have to rename them. */
function isSql(path: string, text: string): boolean {
  return (
    path.endsWith(".postgres.ts") &&
    /^\s*(select|insert|update|delete|with|from|where|and|or|case|join|left|exists)\b/m.test(text)
  );
}

/** Positions stay as they are, so that a finding has the right line. */
function withoutCode(text: string): string {
  return text
    .replaceAll(/`[^`]*`/g, blank)
    .replaceAll(/\{@\w+ [^}]*\}/g, blank)
    .replaceAll(/\]\([^)]*\)/g, blank)
    .replaceAll(/https?:\/\/\S+|[\w./-]+\.(?:md|ts|json)\b/g, blank)
    .replaceAll(/<[^>]+>/g, blank);
}

const blank = (code: string): string => code.replaceAll(/[^\n]/g, "·");

/** A table row, a heading and a line that cannot be wrapped may be longer. */
function isTooLong(line: string): boolean {
  return line.length > DOC_COLUMNS && !/^\s*(\||#|\[|<)/.test(line) && !/\S{80,}/.test(line);
}

function lineFinder(text: string): (offset: number) => number {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  };
}
