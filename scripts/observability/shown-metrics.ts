import { dashboards } from "./dashboards.ts";
import { oracleRules } from "./oracle-alert-rules.ts";
import { metricsIn, parseExpression } from "./promql-parse.ts";
import { serviceRules } from "./service-alert-rules.ts";

/** The name of every metric that a rule or a panel reads. */
export function shownMetrics(): readonly string[] {
  const expressions = [
    ...[...serviceRules, ...oracleRules].flatMap(({ rules }) => rules.map(({ expression }) => expression)),
    ...dashboards.flatMap(({ panels }) =>
      panels.flatMap(({ lines }) => lines.map(({ expression }) => expression)),
    ),
  ];
  return [...new Set(expressions.flatMap((expression) => metricsIn(parseExpression(expression))))];
}
