import type { AggregationName, Expression, Matcher, Operator, Selector } from "./promql-parse.ts";

/** Seconds between two scrapes. */
export const SCRAPE_SECONDS = 15;

/** A series of a scraped metric. */
export interface Series {
  readonly metric: string;
  readonly labels: Labels;
  /** One value per scrape; undefined: the series was missing from that scrape. */
  readonly values: readonly (number | undefined)[];
}

type Labels = Readonly<Record<string, string>>;

/** One element of the result. */
export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

/**
 * Evaluates an expression at one scrape. Unlike Prometheus, it does not extrapolate how much a
 * counter rose before its first and after its last sample, so rate thresholds need a margin.
 * @param stepSeconds seconds between two scrapes
 */
export function evaluate(
  expression: Expression,
  series: readonly Series[],
  scrape: number,
  stepSeconds = SCRAPE_SECONDS,
): readonly Sample[] {
  const vector = (operand: Expression): readonly Sample[] => evaluate(operand, series, scrape, stepSeconds);
  switch (expression.kind) {
    case "number":
      return [{ labels: {}, value: expression.value }];
    case "selector":
      return select(expression, series).flatMap(({ labels, values }) => {
        const value = values[scrape];
        return value === undefined ? [] : [{ labels, value }];
      });
    case "aggregation":
      return aggregate(expression.name, expression.by, vector(expression.of));
    case "binary":
      return combine(expression, vector(expression.left), vector(expression.right));
    case "call": {
      const [first, second] = expression.args;
      if (first === undefined) throw new SyntaxError(`${expression.name} has no argument`);
      if (expression.name === "absent") return vector(first).length > 0 ? [] : [{ labels: {}, value: 1 }];
      if (expression.name === "histogram_quantile")
        throw new SyntaxError("histogram_quantile is for panels, not for rules");
      if (first.kind !== "selector" || first.rangeSeconds === undefined || second !== undefined)
        throw new SyntaxError(`${expression.name} takes one range`);
      return overRange(expression.name, first, Math.ceil(first.rangeSeconds / stepSeconds), {
        rangeSeconds: first.rangeSeconds,
        series,
        scrape,
      });
    }
    default:
      return expression satisfies never;
  }
}

function overRange(
  name: "rate" | "increase" | "max_over_time",
  selector: Selector,
  samples: number,
  {
    rangeSeconds,
    series,
    scrape,
  }: { readonly rangeSeconds: number; readonly series: readonly Series[]; readonly scrape: number },
): readonly Sample[] {
  const from = Math.max(0, scrape - samples + 1);
  return select(selector, series).flatMap(({ labels, values }) => {
    const presentValues = values.slice(from, scrape + 1).filter((value) => value !== undefined);
    if (name === "max_over_time")
      return presentValues.length === 0 ? [] : [{ labels, value: Math.max(...presentValues) }];
    // As in Prometheus, a rate needs two samples, and the first one does not count as an increase from zero.
    if (presentValues.length < 2) return [];
    const rise = presentValues
      .slice(1)
      // A counter that is lower than before has restarted at zero.
      .reduce(
        (sum, value, index) =>
          sum + (value < (presentValues[index] ?? 0) ? value : value - (presentValues[index] ?? 0)),
        0,
      );
    return [{ labels, value: name === "rate" ? rise / rangeSeconds : rise }];
  });
}

function select({ metric, matchers }: Selector, series: readonly Series[]): readonly Series[] {
  return series.filter(
    (candidate) =>
      candidate.metric === metric && matchers.every((matcher) => matches(matcher, candidate.labels)),
  );
}

function matches({ label, operator, value }: Matcher, labels: Labels): boolean {
  const labelValue = labels[label] ?? "";
  const isMatch = operator.endsWith("~")
    ? new RegExp(`^(?:${value})$`).test(labelValue)
    : labelValue === value;
  return operator.startsWith("!") ? !isMatch : isMatch;
}

function aggregate(
  name: AggregationName,
  by: readonly string[],
  samples: readonly Sample[],
): readonly Sample[] {
  const groups = Map.groupBy(samples, ({ labels }) => keyOf(pick(labels, by)));
  return [...groups.values()].map((group) => {
    const values = group.map(({ value }) => value);
    const sum = values.reduce((total, value) => total + value, 0);
    const results = { sum, max: Math.max(...values), min: Math.min(...values), count: values.length };
    return { labels: pick(group[0]?.labels ?? {}, by), value: results[name] };
  });
}

interface Binary {
  readonly operator: Operator;
  readonly left: Expression;
  readonly right: Expression;
}

function combine(
  { operator, left, right }: Binary,
  lefts: readonly Sample[],
  rights: readonly Sample[],
): readonly Sample[] {
  const partnerOf = (sample: Sample): Sample | undefined =>
    right.kind === "number"
      ? rights[0]
      : rights.find((candidate) => keyOf(candidate.labels) === keyOf(sample.labels));
  if (operator === "or") {
    const leftKeys = new Set(lefts.map(({ labels }) => keyOf(labels)));
    return [...lefts, ...rights.filter(({ labels }) => !leftKeys.has(keyOf(labels)))];
  }
  if (operator === "and") return lefts.filter((sample) => partnerOf(sample) !== undefined);
  if (operator === "unless") return lefts.filter((sample) => partnerOf(sample) === undefined);
  if (left.kind === "number") {
    // Only arithmetic; a rule compares a vector with a number, in this order.
    return rights.map(({ labels, value }) => ({
      labels,
      value: calculate(operator, lefts[0]?.value ?? 0, value) ?? 0,
    }));
  }
  return lefts.flatMap((sample) => {
    const partner = partnerOf(sample);
    if (partner === undefined) return [];
    const value = calculate(operator, sample.value, partner.value);
    // A true comparison keeps the left value; a false one yields no sample.
    return value === undefined ? [] : [{ labels: sample.labels, value }];
  });
}

function calculate(operator: Operator, a: number, b: number): number | undefined {
  const keepIf = (isTrue: boolean): number | undefined => (isTrue ? a : undefined);
  if (operator === "+") return a + b;
  if (operator === "-") return a - b;
  if (operator === "*") return a * b;
  if (operator === "/") return a / b;
  if (operator === "==") return keepIf(a === b);
  if (operator === "!=") return keepIf(a !== b);
  if (operator === "<") return keepIf(a < b);
  if (operator === "<=") return keepIf(a <= b);
  if (operator === ">") return keepIf(a > b);
  if (operator === ">=") return keepIf(a >= b);
  throw new SyntaxError(`${operator} takes vectors`);
}

function pick(labels: Labels, names: readonly string[]): Labels {
  return Object.fromEntries(
    names.flatMap((name) => (labels[name] === undefined ? [] : [[name, labels[name]]])),
  );
}

function keyOf(labels: Labels): string {
  return JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}
