import type { Kind } from "./prose-of.ts";

/** Tolerated findings: how many of each kind per file, and how many of each rule in total. */
export interface Baseline {
  readonly files: Readonly<Record<string, Readonly<Partial<Record<Kind, number>>>>>;
  /** By kind and rule, like `comments: nobody`. */
  readonly rules: Readonly<Record<string, number>>;
}

/** Kinds that the baseline may contain. Users read the others, so those must have none. */
export const TOLERATED: ReadonlySet<Kind> = new Set(["comments", "tests", "names"]);

/** A finding in its file. */
export interface Located {
  readonly path: string;
  readonly kind: Kind;
  readonly line: number;
  /** The refused word as in the glossary, or the kind if a form is refused. */
  readonly rule: string;
}

/** Counts findings; those of kinds that users read are left out. */
export function baselineOf(findings: readonly Located[]): Baseline {
  const files: Record<string, Partial<Record<Kind, number>>> = {};
  const rules: Record<string, number> = {};
  for (const { path, kind, rule } of findings) {
    if (!TOLERATED.has(kind)) continue;
    const file = (files[path] ??= {});
    file[kind] = (file[kind] ?? 0) + 1;
    const key = `${kind}: ${rule}`;
    rules[key] = (rules[key] ?? 0) + 1;
  }
  return { files: sorted(files), rules: sorted(rules) };
}

/**
 * Files whose findings differ from the baseline; `more` are new findings, `fewer` must be recorded.
 */
export function differences(
  baseline: Baseline,
  current: Baseline,
): readonly { readonly path: string; readonly kind: Kind; readonly was: number; readonly is: number }[] {
  const paths = new Set([...Object.keys(baseline.files), ...Object.keys(current.files)]);
  return [...paths].sort().flatMap((path) =>
    [...TOLERATED].flatMap((kind) => {
      const was = baseline.files[path]?.[kind] ?? 0;
      const is = current.files[path]?.[kind] ?? 0;
      return was === is ? [] : [{ path, kind, was, is }];
    }),
  );
}

/**
 * Rules with more findings in a later version. A rule that an earlier version does not have may start
 * with any count.
 */
export function increases(earlier: Baseline, later: Baseline): readonly string[] {
  return Object.entries(later.rules).flatMap(([rule, count]) => {
    const before = earlier.rules[rule];
    return before !== undefined && count > before ? [`${rule}: ${before} → ${count}`] : [];
  });
}

function sorted<Value>(record: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
