// A strict subset of Go templates, as Helm renders them: unknown syntax is an error and never skipped.

import { stringify } from "yaml";

type Value = unknown;
type Expression = readonly Command[];
/** A function with arguments, or one value. */
type Command = readonly Term[];
type Term =
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "path"; readonly from: string; readonly fields: readonly string[] }
  | { readonly kind: "function"; readonly name: string }
  | { readonly kind: "nested"; readonly expression: Expression };
type Node =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "output"; readonly expression: Expression }
  | { readonly kind: "assign"; readonly name: string; readonly expression: Expression }
  | Block;
interface Block {
  readonly kind: "if" | "range" | "define";
  readonly expression: Expression;
  /** Variables of a `range`; the name of a `define`. */
  readonly names: readonly string[];
  readonly body: Node[];
}
type Scope = ReadonlyMap<string, Value>;
type Fields = Readonly<Record<string, Value>>;

/**
 * Renders the chart's files together: a template may include what another one defines.
 * @throws Error for unknown syntax
 */
export function renderTemplates(
  files: ReadonlyMap<string, string>,
  root: Fields,
): ReadonlyMap<string, string> {
  const parsed = [...files].map(([name, text]) => [name, parse(name, text)] as const);
  const definitions = new Map<string, readonly Node[]>();
  for (const [, nodes] of parsed)
    for (const node of nodes) if (node.kind === "define") definitions.set(node.names[0] ?? "", node.body);
  return new Map(
    parsed.map(([name, nodes]) => [
      name,
      renderAll(
        nodes,
        new Map([
          ["$", root],
          [".", root],
        ]),
        definitions,
      ),
    ]),
  );
}

function parse(file: string, text: string): readonly Node[] {
  const top: Node[] = [];
  const open: { readonly body: Node[] }[] = [{ body: top }];
  let end = 0;
  let trimsNext = false;
  const addText = (raw: string, trimsEnd: boolean): void => {
    const start = trimsNext ? raw.trimStart() : raw;
    const trimmed = trimsEnd ? start.trimEnd() : start;
    if (trimmed !== "") open.at(-1)?.body.push({ kind: "text", text: trimmed });
  };
  for (const match of text.matchAll(/\{\{(- )?([\s\S]*?)( -)?\}\}/g)) {
    const [whole, left, inner = "", right] = match;
    addText(text.slice(end, match.index), left !== undefined);
    end = match.index + whole.length;
    trimsNext = right !== undefined;
    const action = inner.trim();
    if (action.startsWith("/*")) continue;
    if (action === "end") {
      open.pop();
      if (open.length === 0) throw new Error(`${file}: end without a block`);
      continue;
    }
    const node = nodeOf(file, action);
    open.at(-1)?.body.push(node);
    if ("body" in node) open.push(node);
  }
  addText(text.slice(end), false);
  if (open.length !== 1) throw new Error(`${file}: ${open.length - 1} blocks without an end`);
  return top;
}

function nodeOf(file: string, action: string): Node {
  const block = /^(if|range|define)\s+(?:((?:\$\w+\s*,?\s*)+):=\s*)?([\s\S]+)$/.exec(action);
  const [, kind, names = "", rest = ""] = block ?? [];
  if (kind === "define") return { kind, names: [JSON.parse(rest) as string], expression: [], body: [] };
  if (kind === "if" || kind === "range")
    return { kind, names: names.match(/\$\w+/g) ?? [], expression: expressionOf(file, rest), body: [] };
  const [, name, value = ""] = /^(\$\w+)\s*:=\s*([\s\S]+)$/.exec(action) ?? [];
  if (name !== undefined) return { kind: "assign", name, expression: expressionOf(file, value) };
  return { kind: "output", expression: expressionOf(file, action) };
}

const TOKEN = /\s*("(?:[^"\\]|\\.)*"|\d+(?![\w.])|[()|]|(?:\$\w*)?(?:\.\w+)+|\$\w*|\.(?!\w)|[A-Za-z]\w*)/y;

function expressionOf(file: string, text: string): Expression {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const position = TOKEN.lastIndex;
    const token = TOKEN.exec(text)?.[1];
    if (token === undefined)
      throw new Error(`${file}: not supported by this renderer: ${text.slice(position)}`);
    tokens.push(token);
  }
  const read = (isNested: boolean): Expression => {
    const commands: Term[][] = [[]];
    for (;;) {
      const token = tokens.shift();
      if (token === undefined || token === ")") {
        if (isNested !== (token === ")")) throw new Error(`${file}: unbalanced parentheses: ${text}`);
        return commands;
      }
      if (token === "|") commands.push([]);
      else if (token === "(") commands.at(-1)?.push({ kind: "nested", expression: read(true) });
      else commands.at(-1)?.push(termOf(token));
    }
  };
  return read(false);
}

function termOf(token: string): Term {
  if (/^["\d]/.test(token)) return { kind: "value", value: JSON.parse(token) as Value };
  if (/^[.$]/.test(token)) {
    const [from = "", ...fields] = token.split(".");
    return { kind: "path", from: from === "" ? "." : from, fields: fields.filter((field) => field !== "") };
  }
  return { kind: "function", name: token };
}

const isFields = (value: Value): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** As in Go, empty text, lists and maps, 0, false and missing values are false. */
const isTrue = (value: Value): boolean =>
  Array.isArray(value) ? value.length > 0 : isFields(value) ? Object.keys(value).length > 0 : Boolean(value);

const textOf = (value: Value): string => {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return `${value}`;
  throw new Error(`expected text, a number or a boolean, got ${JSON.stringify(value)}`);
};

const indent = (spaces: Value, text: Value): string =>
  textOf(text).replaceAll(/^/gm, " ".repeat(Number(spaces)));

const functions: Readonly<Record<string, (...values: readonly Value[]) => Value>> = {
  quote: (value) => JSON.stringify(textOf(value)),
  toYaml: (value) => stringify(value, { lineWidth: 0 }).trimEnd(),
  nindent: (spaces, text) => `\n${indent(spaces, text)}`,
  default: (fallback, value) => (isTrue(value) ? value : fallback),
  not: (value) => !isTrue(value),
  hasKey: (map, name) => Object.hasOwn(map as Fields, textOf(name)),
  dict: (...pairs) =>
    Object.fromEntries(
      pairs.flatMap((name, index) => (index % 2 === 0 ? [[name, pairs[index + 1]]] : [])),
    ) as Fields,
};

function evaluate(
  expression: Expression,
  scope: Scope,
  definitions: ReadonlyMap<string, readonly Node[]>,
): Value {
  const valueOf = (term: Term): Value => {
    if (term.kind === "value") return term.value;
    if (term.kind === "nested") return evaluate(term.expression, scope, definitions);
    if (term.kind === "function") throw new Error(`unknown function: ${term.name}`);
    if (!scope.has(term.from)) throw new Error(`undefined variable: ${term.from}`);
    return term.fields.reduce<Value>((value, field) => {
      if (!isFields(value)) throw new Error(`no field ${field} in ${JSON.stringify(value)}`);
      return value[field];
    }, scope.get(term.from));
  };
  let piped: readonly Value[] = [];
  for (const [first, ...rest] of expression) {
    if (first === undefined) throw new Error("empty command");
    const args = [...rest.map(valueOf), ...piped];
    if (first.kind === "path" && first.fields.at(-1) === "Get") {
      const files = valueOf({ ...first, fields: first.fields.slice(0, -1) });
      piped = [(files as (name: string) => string)(textOf(args[0]))];
    } else if (first.kind === "function" && first.name === "include") {
      const body = definitions.get(textOf(args[0]));
      if (body === undefined) throw new Error(`undefined template: ${textOf(args[0])}`);
      piped = [
        renderAll(
          body,
          new Map([
            ["$", args[1]],
            [".", args[1]],
          ]),
          definitions,
        ),
      ];
    } else if (first.kind === "function") {
      const implementation = functions[first.name];
      if (implementation === undefined) throw new Error(`unknown function: ${first.name}`);
      piped = [implementation(...args)];
    } else piped = [valueOf(first)];
  }
  return piped[0];
}

function renderAll(
  nodes: readonly Node[],
  outer: Scope,
  definitions: ReadonlyMap<string, readonly Node[]>,
): string {
  const scope = new Map(outer);
  let text = "";
  for (const node of nodes) {
    if (node.kind === "text") text += node.text;
    else if (node.kind !== "define") {
      const value = evaluate(node.expression, scope, definitions);
      if (node.kind === "output") text += textOf(value);
      else if (node.kind === "assign") scope.set(node.name, value);
      else if (node.kind === "if") text += isTrue(value) ? renderAll(node.body, scope, definitions) : "";
      else
        text += entriesOf(value)
          .map((entry) => renderAll(node.body, within(scope, node.names, entry), definitions))
          .join("");
    }
  }
  return text;
}

/** Maps in key order, as in Go. */
function entriesOf(value: Value): readonly (readonly [Value, Value])[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return [...(value as readonly Value[]).entries()];
  if (isFields(value)) return Object.entries(value).sort(([first], [second]) => (first < second ? -1 : 1));
  throw new Error(`range over ${JSON.stringify(value)}`);
}

function within(scope: Scope, names: readonly string[], [key, value]: readonly [Value, Value]): Scope {
  const [first, second] = names;
  const variables: (readonly [string, Value])[] =
    second === undefined
      ? first === undefined
        ? []
        : [[first, value]]
      : [
          [first ?? "", key],
          [second, value],
        ];
  return new Map([...scope, [".", value], ...variables]);
}
