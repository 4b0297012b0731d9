/** One alert of Prometheus. Its page is `docs/runbooks/<page>.md`. */
export interface Rule {
  readonly name: string;
  readonly expression: string;
  /** How long the expression must be true before the alert fires. */
  readonly forSeconds: number;
  readonly severity: "critical" | "warning";
  /** One sentence; `{{ $labels.x }}` is a label and `{{ $value }}` the value. */
  readonly summary: string;
}

/** Rules of one topic. */
export interface RuleGroup {
  readonly name: string;
  readonly rules: readonly Rule[];
}

/** `CausewayWorkerMissing` is explained in `worker-missing`. */
export function pageOf({ name }: Pick<Rule, "name">): string {
  return name
    .replace(/^Causeway/, "")
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, "-")
    .toLowerCase();
}
