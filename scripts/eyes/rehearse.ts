import { evaluate, SCRAPE_SECONDS, type Series } from "./promql-evaluate.ts";
import { parseExpression } from "./promql-parse.ts";
import type { Rule } from "./rule.ts";

/** The scrape at which an alert fires for the first time; undefined: never. */
export function firstFiring(rule: Rule, series: readonly Series[], scrapes: number): number | undefined {
  const expression = parseExpression(rule.expression);
  const needed = Math.ceil(rule.forSeconds / SCRAPE_SECONDS);
  // An alert is pending for each set of labels on its own.
  let pending = new Map<string, number>();
  for (let scrape = 0; scrape < scrapes; scrape++) {
    const now = evaluate(expression, series, scrape).map(({ labels }) => JSON.stringify(labels));
    pending = new Map(now.map((key) => [key, pending.get(key) ?? scrape]));
    if ([...pending.values()].some((since) => scrape - since >= needed)) return scrape;
  }
  return undefined;
}
