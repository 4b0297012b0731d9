import { parseSync } from "oxc-parser";

/** One source file of apps/api without tests. */
export interface SourceFile {
  /** Below apps/api/src. */
  readonly path: string;
  readonly text: string;
}

/** What the house is measured by; less is better for each. */
export interface Figures {
  readonly sourceLines: number;
  /** Places that ask which kind of chain they have. */
  readonly chainKindBranches: number;
  /** `as` in files of SQL, without `as const`. */
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
 * @param exempt files that name the types of all rooms, which no pair of rooms is judged by
 */
export function figuresOf(files: readonly SourceFile[], exempt: readonly string[] = []): Figures {
  let [casts, branches, events] = [0, 0, 0];
  for (const { path, text } of files)
    visit(parseSync(path, text).program, false, (node, inTransaction) => {
      if (node.type === "TSAsExpression" && path.endsWith(".postgres.ts") && !isConst(node, text)) casts++;
      if (asksKindOfChain(node, text)) branches++;
      if (inTransaction && raisesEvent(node, text)) events++;
    });
  return {
    sourceLines: files.reduce((sum, { text }) => sum + text.split("\n").length - 1, 0),
    chainKindBranches: branches,
    castsInDatabaseCode: casts,
    eventsInsideTransactions: events,
    mutualPairs: mutualPairs(files.filter(({ path }) => !exempt.includes(path))),
  };
}

function visit(
  value: unknown,
  inTransaction: boolean,
  see: (node: Node, inTransaction: boolean) => void,
): void {
  if (Array.isArray(value)) return value.forEach((one) => visit(one, inTransaction, see));
  if (typeof value !== "object" || value === null) return;
  const node = value as Node;
  const inside = inTransaction || takesTransaction(node);
  if (typeof node.type === "string") see(node, inside);
  for (const [key, child] of Object.entries(node)) if (key !== "parent") visit(child, inside, see);
}

const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

/** A function with a parameter `tx`, alone or taken out of an object. */
function takesTransaction({ type, params }: Node): boolean {
  return (
    FUNCTIONS.has(type) &&
    JSON.stringify(params, (key, value: unknown) =>
      key === "parent" || typeof value === "bigint" ? undefined : value,
    ).includes('"name":"tx"')
  );
}

function raisesEvent({ type, callee }: Node, text: string): boolean {
  if (type !== "CallExpression") return false;
  const { start, end } = callee as Node;
  return /(?<!\btx\.)\bevents\.(happened|alarm)$/.test(text.slice(start, end));
}

/** Names of chain families, as the API and the oracles write them. */
const FAMILY = /^"(?:evm|svm|bvm|hypevm|(?:ethereum|solana|bitcoin|hyperliquid|lighter|tron)-vm)"$/;
/** What only chains of one kind have, or what a lookup among them returned. */
const OF_ONE_KIND = /\bchain\.(?:exchange|bitcoin)$|\brail(?:\([^()]*\))?\)?$/;

function asksKindOfChain({ type, callee, operator, left, right, discriminant }: Node, text: string): boolean {
  const of = (node: unknown): string => text.slice((node as Node).start, (node as Node).end);
  if (type === "CallExpression") return /\bisNonEvm$/.test(of(callee));
  if (type === "SwitchStatement") return /\bvmType$/.test(of(discriminant));
  if (type !== "BinaryExpression") return false;
  const sides = [of(left), of(right)];
  if (operator === "in") return /^"(?:rail|depository)"$/.test(sides[0] ?? "");
  if (operator !== "===" && operator !== "!==") return false;
  if (sides.some((side) => /\bvmType$/.test(side) || FAMILY.test(side))) return true;
  const isKindOnly = (side: string): boolean => OF_ONE_KIND.test(side) || namesOfLookups(text).has(side);
  return sides.includes("undefined") && sides.some(isKindOnly);
}

/** Names that a file gives to results of `chains.rail(id)`. */
function namesOfLookups(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(/const (\w+) = [\w.]*\brail\(/g)].map(([, name = ""]) => name));
}

function isConst({ typeAnnotation }: Node, text: string): boolean {
  const { start, end } = typeAnnotation as Node;
  return text.slice(start, end) === "const";
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
          const counts =
            target.includes("/") && !target.endsWith(".tables.ts") && room(target) !== room(path);
          return counts ? [`${room(path)} ${room(target)}`] : [];
        }),
      ),
  );
  return [...pairs].filter((pair) => pairs.has(pair.split(" ").toReversed().join(" "))).length / 2;
}
