/** A parsed expression of the PromQL subset that the rules and panels use. */
export type Expression =
  | { readonly kind: "number"; readonly value: number }
  | Selector
  | { readonly kind: "call"; readonly name: CallName; readonly args: readonly Expression[] }
  | {
      readonly kind: "aggregation";
      readonly name: AggregationName;
      readonly by: readonly string[];
      readonly of: Expression;
    }
  | {
      readonly kind: "binary";
      readonly operator: Operator;
      readonly left: Expression;
      readonly right: Expression;
    };

export interface Selector {
  readonly kind: "selector";
  readonly metric: string;
  readonly matchers: readonly Matcher[];
  /** Undefined: an instant vector. */
  readonly rangeSeconds: number | undefined;
}

export interface Matcher {
  readonly label: string;
  readonly operator: "=" | "!=" | "=~" | "!~";
  readonly value: string;
}

const CALLS = ["rate", "increase", "absent", "max_over_time", "histogram_quantile"] as const;
const AGGREGATIONS = ["sum", "max", "min", "count"] as const;
/** By precedence, lowest first. */
const OPERATORS = [
  ["or"],
  ["and", "unless"],
  ["==", "!=", "<=", "<", ">=", ">"],
  ["+", "-"],
  ["*", "/"],
] as const;

export type CallName = (typeof CALLS)[number];
export type AggregationName = (typeof AGGREGATIONS)[number];
export type Operator = (typeof OPERATORS)[number][number];

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };
const TOKEN =
  /\s*(?:(?<word>[a-zA-Z_:][\w:]*)|(?<duration>\d+[smhd])|(?<number>\d+(?:\.\d+)?)|(?<text>"(?:[^"\\]|\\.)*")|(?<sign>=~|!~|[=!<>]=|[-+*/(){}[\],=<>]))/y;

interface Token {
  readonly kind: "word" | "duration" | "number" | "text" | "sign";
  readonly text: string;
}

/** @throws SyntaxError for anything outside the subset; Prometheus may accept more */
export function parseExpression(source: string): Expression {
  const parser = new Parser(tokensOf(source), source);
  const expression = parser.binary(0);
  parser.end();
  return expression;
}

/** The name of every metric that an expression reads. */
export function metricsIn(expression: Expression): readonly string[] {
  switch (expression.kind) {
    case "number":
      return [];
    case "selector":
      return [expression.metric];
    case "call":
      return expression.args.flatMap(metricsIn);
    case "aggregation":
      return metricsIn(expression.of);
    case "binary":
      return [...metricsIn(expression.left), ...metricsIn(expression.right)];
    default:
      return expression satisfies never;
  }
}

function tokensOf(source: string): readonly Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (source.slice(TOKEN.lastIndex).trim() !== "") {
    const position = TOKEN.lastIndex;
    const groups = TOKEN.exec(source)?.groups;
    if (groups === undefined) throw new SyntaxError(`unexpected "${source.slice(position)}" in ${source}`);
    for (const [kind, text] of Object.entries(groups))
      if (text !== undefined) tokens.push({ kind: kind as Token["kind"], text });
  }
  return tokens;
}

class Parser {
  readonly #tokens: readonly Token[];
  readonly #source: string;
  #at = 0;

  constructor(tokens: readonly Token[], source: string) {
    this.#tokens = tokens;
    this.#source = source;
  }

  binary(level: number): Expression {
    const operators: readonly string[] | undefined = OPERATORS[level];
    if (operators === undefined) return this.#primary();
    let left = this.binary(level + 1);
    for (let next = this.#peek(); next !== undefined && operators.includes(next.text); next = this.#peek()) {
      this.#at += 1;
      left = { kind: "binary", operator: next.text as Operator, left, right: this.binary(level + 1) };
    }
    return left;
  }

  end(): void {
    const extraToken = this.#peek();
    if (extraToken !== undefined) throw new SyntaxError(`unexpected ${extraToken.text} in ${this.#source}`);
  }

  #primary(): Expression {
    const token = this.#next();
    if (token.kind === "number") return { kind: "number", value: Number(token.text) };
    if (token.text === "(") {
      const inner = this.binary(0);
      this.#expect(")");
      return inner;
    }
    if (token.kind !== "word") throw new SyntaxError(`unexpected ${token.text} in ${this.#source}`);
    const aggregation = AGGREGATIONS.find((name) => name === token.text);
    if (aggregation !== undefined) {
      const by = this.#accept("by") ? this.#labels() : [];
      this.#expect("(");
      const operand = this.binary(0);
      this.#expect(")");
      return { kind: "aggregation", name: aggregation, by, of: operand };
    }
    const call = CALLS.find((name) => name === token.text);
    if (call === undefined) return this.#selector(token.text);
    this.#expect("(");
    const args = [this.binary(0)];
    while (this.#accept(",")) args.push(this.binary(0));
    this.#expect(")");
    return { kind: "call", name: call, args };
  }

  #selector(metric: string): Selector {
    const matchers: Matcher[] = [];
    if (this.#accept("{"))
      do {
        const label = this.#next().text;
        const operator = this.#next().text as Matcher["operator"];
        matchers.push({ label, operator, value: JSON.parse(this.#next().text) as string });
      } while (!this.#accept("}") && this.#expect(","));
    let rangeSeconds: number | undefined;
    if (this.#accept("[")) {
      rangeSeconds = secondsOf(this.#next().text);
      this.#expect("]");
    }
    return { kind: "selector", metric, matchers, rangeSeconds };
  }

  #labels(): readonly string[] {
    this.#expect("(");
    const labels: string[] = [];
    do labels.push(this.#next().text);
    while (this.#accept(","));
    this.#expect(")");
    return labels;
  }

  #peek(): Token | undefined {
    return this.#tokens[this.#at];
  }

  #next(): Token {
    const token = this.#peek();
    if (token === undefined) throw new SyntaxError(`unexpected end of ${this.#source}`);
    this.#at += 1;
    return token;
  }

  #accept(text: string): boolean {
    if (this.#peek()?.text !== text) return false;
    this.#at += 1;
    return true;
  }

  #expect(text: string): true {
    const { text: found } = this.#next();
    if (found !== text) throw new SyntaxError(`expected ${text}, got ${found} in ${this.#source}`);
    return true;
  }
}

/** @throws SyntaxError */
function secondsOf(duration: string): number {
  const unit = UNIT_SECONDS[duration.slice(-1)];
  if (unit === undefined) throw new SyntaxError(`expected a duration such as 5m, got ${duration}`);
  return Number(duration.slice(0, -1)) * unit;
}
