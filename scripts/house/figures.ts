import { parseSync } from "oxc-parser";

/** One source file of apps/api without tests. */
export interface SourceFile {
  /** Below apps/api/src. */
  readonly path: string;
  readonly text: string;
}

/** The measures of the structure; less is better for each. */
export interface Figures {
  readonly sourceLines: number;
  /** Places that check the kind of a chain. */
  readonly chainKindBranches: number;
  /** In files with SQL: `as` without `as const`, and types that a query or its template asserts. */
  readonly castsInDatabaseCode: number;
  /** Events raised in a transaction, but not through `tx.events`: they stay even if it rolls back. */
  readonly eventsInsideTransactions: number;
  /** Pairs of rooms that import each other. */
  readonly mutualPairs: number;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

/**
 * Reads the figures from the syntax trees.
 * @param exempt files that name the types of all rooms: pairs of rooms are counted without them
 */
export function figuresOf(files: readonly SourceFile[], exempt: readonly string[] = []): Figures {
  let [casts, branches, events] = [0, 0, 0];
  for (const { path, text } of files) {
    let [hasSql, castsHere] = [path.endsWith(".postgres.ts"), 0];
    visit(parseSync(path, text).program, { text, ownEvents: undefined }, (node, ownEvents) => {
      hasSql ||= isSql(node, text);
      if (isCast(node, text)) castsHere++;
      if (branchesOnChainKind(node, text)) branches++;
      if (ownEvents !== undefined && raisesEvent(node, text, ownEvents)) events++;
    });
    if (hasSql) casts += castsHere;
  }
  return {
    sourceLines: files.reduce((sum, { text }) => sum + text.split("\n").length - 1, 0),
    chainKindBranches: branches,
    castsInDatabaseCode: casts,
    eventsInsideTransactions: events,
    mutualPairs: mutualPairs(files.filter(({ path }) => !exempt.includes(path))),
  };
}

/** How a piece of code writes the events of its transaction; undefined outside of transactions. */
type OwnEvents = readonly string[] | undefined;

function visit(
  value: unknown,
  { text, ownEvents }: { readonly text: string; readonly ownEvents: OwnEvents },
  onNode: (node: Node, ownEvents: OwnEvents) => void,
): void {
  if (Array.isArray(value)) return value.forEach((child) => visit(child, { text, ownEvents }, onNode));
  if (typeof value !== "object" || value === null) return;
  const node = value as Node;
  const inside = FUNCTIONS.has(node.type) ? eventsOfParameters(node, text, ownEvents) : ownEvents;
  if (typeof node.type === "string") onNode(node, inside);
  const work = workOfTransaction(node, text);
  for (const [key, child] of Object.entries(node)) {
    if (key === "parent") continue;
    if (key !== "arguments" || work === undefined) visit(child, { text, ownEvents: inside }, onNode);
    else {
      const [, ...others] = child as Node[];
      const [transaction] = work.params as Node[];
      visit(work, { text, ownEvents: [...(inside ?? []), ...eventsOf(transaction)] }, onNode);
      visit(others, { text, ownEvents: inside }, onNode);
    }
  }
}

const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

/** The function that a call of `uow.run` runs in a transaction. */
function workOfTransaction({ type, callee, arguments: args }: Node, text: string): FunctionNode | undefined {
  if (type !== "CallExpression" || !/\buow\.run$/.test(textOf(callee, text))) return undefined;
  const [work] = args as Node[];
  return work !== undefined && FUNCTIONS.has(work.type) ? (work as FunctionNode) : undefined;
}

interface FunctionNode extends Node {
  readonly params: readonly Node[];
}

/**
 * {@link OwnEvents} of a function. A parameter is a transaction if it is called `tx`, alone or in an object,
 * or has the type `Tx`.
 */
function eventsOfParameters({ params }: Node, text: string, outside: OwnEvents): OwnEvents {
  const transactions = (params as Node[]).filter((param) => /\b(?:tx|Tx)\b/.test(textOf(param, text)));
  return transactions.length === 0 ? outside : [...(outside ?? []), ...transactions.flatMap(eventsOf)];
}

/** How code writes the events of a transaction that is this parameter. */
function eventsOf(param: Node | undefined): readonly string[] {
  if (param?.type === "Identifier") return [`${String(param["name"])}.events`];
  if (param?.type !== "ObjectPattern") return [];
  return (param["properties"] as Node[]).flatMap(({ key, value }) => {
    const [from, to] = [key, value] as (Node | undefined)[];
    return from?.["name"] === "events" && to?.type === "Identifier" ? [String(to["name"])] : [];
  });
}

function raisesEvent({ type, callee }: Node, text: string, ownEvents: readonly string[]): boolean {
  if (type !== "CallExpression") return false;
  const events = /^(.*(?<!\btx\.)\bevents)\.(?:happened|alarm)$/s.exec(textOf(callee, text))?.[1];
  return events !== undefined && !ownEvents.includes(events);
}

const SQL = /^\s*(?:select\s|insert into\s|delete from\s|update\s+\S+\s+set\s|with\s+\w+\s+as\s)/i;

function isSql(node: Node, text: string): boolean {
  if (node.type !== "TemplateLiteral" && node.type !== "Literal") return false;
  const written = textOf(node, text);
  return /^["'`]/.test(written) && SQL.test(written.slice(1));
}

function isCast(node: Node, text: string): boolean {
  if (node.type === "TSAsExpression") return textOf(node["typeAnnotation"], text) !== "const";
  if (!node["typeArguments"]) return false;
  if (node.type === "CallExpression") return /(?:^|\.)query$/.test(textOf(node["callee"], text));
  // `mapWith` decodes what the template returns.
  return node.type === "TaggedTemplateExpression" && !/^\s*\.mapWith\(/.test(text.slice(node.end));
}

/** Names of chain families, as the API and the oracles write them. */
const FAMILY = /^"(?:evm|svm|bvm|hypevm|(?:ethereum|solana|bitcoin|hyperliquid|lighter|tron)-vm)"$/;
/** What only chains of one kind have, or the result of a lookup among them. */
const OF_ONE_KIND = /\bchain\.(?:exchange|bitcoin)$|\bnonEvm(?:\([^()]*\))?\)?$/;

function branchesOnChainKind(
  { type, callee, operator, left, right, discriminant }: Node,
  text: string,
): boolean {
  const sourceOf = (node: unknown): string => textOf(node, text);
  if (type === "CallExpression") return /\bisNonEvm$/.test(sourceOf(callee));
  if (type === "SwitchStatement") return /\bvmType$/.test(sourceOf(discriminant));
  if (type !== "BinaryExpression") return false;
  const sides = [sourceOf(left), sourceOf(right)];
  if (operator === "in") return sides[0] === '"depository"';
  if (operator !== "===" && operator !== "!==") return false;
  if (sides.some((side) => /\bvmType$/.test(side) || FAMILY.test(side))) return true;
  const isKindOnly = (side: string): boolean => OF_ONE_KIND.test(side) || namesOfLookups(text).has(side);
  return sides.includes("undefined") && sides.some(isKindOnly);
}

/** Names that a file gives to results of `chains.nonEvm(id)`. */
function namesOfLookups(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(/const (\w+) = [\w.]*\bnonEvm\(/g)].map(([, name = ""]) => name));
}

function textOf(node: unknown, text: string): string {
  const { start, end } = node as Node;
  return text.slice(start, end);
}

function mutualPairs(files: readonly SourceFile[]): number {
  const room = (path: string): string => path.split("/")[0] ?? "";
  const pairs = new Set(
    files
      .filter(({ path }) => path.includes("/"))
      .flatMap(({ path, text }) =>
        [...text.matchAll(/from "((?:\.\.?\/)+[^"]+)"/g)].flatMap(([, specifier = ""]) => {
          const target = new URL(specifier, `file:///${path}`).pathname.slice(1);
          // The schema is one graph: any room's statements may name its tables.
          const isForeignRoom =
            target.includes("/") && !target.endsWith(".tables.ts") && room(target) !== room(path);
          return isForeignRoom ? [`${room(path)} ${room(target)}`] : [];
        }),
      ),
  );
  return [...pairs].filter((pair) => pairs.has(pair.split(" ").toReversed().join(" "))).length / 2;
}
