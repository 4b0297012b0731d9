import { evaluate, SCRAPE_SECONDS, type Series } from "./promql-evaluate.ts";
import { metricsIn, parseExpression } from "./promql-parse.ts";
import type { Rule } from "./rule.ts";

/** The states of an alert, by scrape number. */
export interface AlertTimeline {
  /** The scrape at which its expression was first true; undefined: never. */
  readonly pendingAt: number | undefined;
  /** The scrape at which it first fired; undefined: never. */
  readonly firingAt: number | undefined;
  /** Whether its expression was true at the last scrape. */
  readonly isPending: boolean;
  /** The labels of the first alert that fired or, if none fired, was pending. */
  readonly labels: string | undefined;
}

/** @param stepSeconds seconds between two scrapes */
export function alertTimeline(
  rule: Rule,
  series: readonly Series[],
  scrapes: number,
  stepSeconds = SCRAPE_SECONDS,
): AlertTimeline {
  const expression = parseExpression(rule.expression);
  const requiredScrapes = Math.ceil(rule.forSeconds / stepSeconds);
  const metrics = new Set(metricsIn(expression));
  const relevantSeries = series.filter(({ metric }) => metrics.has(metric));
  // An alert is pending separately for each set of labels.
  let pending = new Map<string, number>();
  let first: { readonly at: number; readonly labels: string } | undefined;
  for (let scrape = 0; scrape < scrapes; scrape++) {
    const now = evaluate(expression, relevantSeries, scrape, stepSeconds).map(({ labels }) =>
      JSON.stringify(labels),
    );
    pending = new Map(now.map((key) => [key, pending.get(key) ?? scrape]));
    const [labels] = now;
    if (labels !== undefined) first ??= { at: scrape, labels };
    const firing = [...pending].find(([, since]) => scrape - since >= requiredScrapes);
    if (firing !== undefined)
      return { pendingAt: first?.at, firingAt: scrape, isPending: true, labels: firing[0] };
  }
  return { pendingAt: first?.at, firingAt: undefined, isPending: pending.size > 0, labels: first?.labels };
}

/** The scrape at which an alert first fires; undefined: never. */
export function firstFiring(rule: Rule, series: readonly Series[], scrapes: number): number | undefined {
  return alertTimeline(rule, series, scrapes).firingAt;
}
