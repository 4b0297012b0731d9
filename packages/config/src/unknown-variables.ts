import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { SettingGroup } from "./docs.ts";
import type { Env } from "./env.ts";

/** Set variables that neither a setting nor a chain file reads. */
export interface UnknownVariables {
  /** Likely typos: very similar to a known variable that is unset. */
  readonly problems: readonly string[];
  /** Removed settings, and names that are similar to a known variable or start like several settings. */
  readonly warnings: readonly string[];
}

/** Shorter names are too often similar by chance. */
const MIN_COMPARED_LENGTH = 8;
/** From this length on, two typos are tolerated instead of one. */
const MIN_LENGTH_FOR_TWO_TYPOS = 16;
/**
 * Variables that Kubernetes sets in every container for each service of the namespace, such as
 * `REDIS_SERVICE_HOST` and `REDIS_PORT_6379_TCP`.
 */
const KUBERNETES_VARIABLE =
  /_SERVICE_(?:HOST|PORT)(?:_[A-Z0-9_]+)?$|_PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:ADDR|PORT|PROTO))?)?$/;
/** A prefix belongs to this service if at least this many settings start with it. */
const MIN_PREFIX_COUNT = 4;

/**
 * Finds misspelled variables and removed settings. Other programs share the environment, so unfamiliar names
 * are ignored.
 * @param configsDir folder whose chain files name further variables; all of them count, because several
 * processes may share one environment
 * @param removed former settings, and the value that each of them is fixed at now
 */
export function unknownVariables(
  env: Env,
  groups: readonly SettingGroup[],
  configsDir: string,
  removed: Readonly<Record<string, string | number>> = {},
): UnknownVariables {
  const settings = groups.flatMap((group) => Object.values(group.settings));
  const names = settings.map(({ name }) => name);
  const files = settings.flatMap(({ name, fromFile }) => (fromFile ? [`${name}_FILE`] : []));
  const knownNames = [...new Set([...names, ...files, ...variablesOfFiles(configsDir)])];
  const prefixes = sharedPrefixes(names);

  const isSet = (name: string): boolean => (env[name] ?? "").trim() !== "";
  const isProvided = (name: string): boolean =>
    isSet(name) || (files.includes(`${name}_FILE`) && isSet(`${name}_FILE`));
  const problems: string[] = [];
  const warnings: string[] = [];
  for (const name of Object.keys(env)) {
    if (knownNames.includes(name) || !isSet(name)) continue;
    const fixedAt = removed[name];
    if (fixedAt !== undefined) {
      warnings.push(
        `${name} is set but is no longer a setting; it has no effect, the value is always ${fixedAt}`,
      );
      continue;
    }
    const similar = knownNames.filter((candidate) => isSimilar(name, candidate));
    const what = `${name} is set but is not a known setting`;
    if (similar.length > 0 && !similar.some(isProvided))
      problems.push(`${what}; rename it to ${similar.join(" or ")}, or unset it`);
    else if (
      similar.length > 0 ||
      (!KUBERNETES_VARIABLE.test(name) && prefixes.some((prefix) => name.startsWith(prefix)))
    )
      warnings.push(`${what}; it has no effect`);
  }
  return { problems, warnings };
}

/** The name that is closest to `text`, if at most a third of its characters differ. */
export function closestName(text: string, names: readonly string[]): string | undefined {
  const [closest] = names
    .map((name) => ({ name, errors: distance(text, name) }))
    .filter(({ name, errors }) => errors <= name.length / 3)
    .sort((a, b) => a.errors - b.errors);
  return closest?.name;
}

/** Every `$NAME` in the chain files. Unreadable files are reported by the code that needs them. */
function variablesOfFiles(configsDir: string): readonly string[] {
  try {
    return readdirSync(configsDir)
      .filter((file) => /^chains\..*\.json$/.test(file))
      .flatMap((file) => [...readFileSync(join(configsDir, file), "utf8").matchAll(/"\$([A-Z][A-Z0-9_]*)"/g)])
      .map((match) => match[1] ?? "");
  } catch {
    return [];
  }
}

/**
 * Prefixes that many settings share, each as long as possible: `APP_BALANCE_`, because `APP_` could belong to
 * any program.
 */
function sharedPrefixes(names: readonly string[]): readonly string[] {
  const firstWords = new Set(names.map((name) => name.split("_", 1)[0]));
  return [...firstWords].flatMap((word) => {
    const members = names.filter((name) => name.startsWith(`${word}_`)).map((name) => name.split("_"));
    const [first = []] = members;
    const differs = first.findIndex((part, index) => members.some((member) => member[index] !== part));
    return members.length < MIN_PREFIX_COUNT ? [] : [`${first.slice(0, differs).join("_")}_`];
  });
}

/** Whether two names differ only in case, underscores and one typo, or two in a long name. */
function isSimilar(text: string, name: string): boolean {
  if (name.length < MIN_COMPARED_LENGTH) return false;
  const [a, b] = [text, name].map((candidate) => candidate.toUpperCase().replaceAll("_", "")) as [
    string,
    string,
  ];
  const allowed = name.length < MIN_LENGTH_FOR_TWO_TYPOS ? 1 : 2;
  return Math.abs(a.length - b.length) <= allowed && distance(a, b) <= allowed;
}

/** Number of typos between two texts: a character added, missing or replaced, or two swapped. */
function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= a.length; i += 1) {
    const above = rows[i - 1] ?? [];
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(
        Math.min(
          (above[j] ?? 0) + 1,
          (row[j - 1] ?? 0) + 1,
          (above[j - 1] ?? 0) + (isSame ? 0 : 1),
          isSwapped ? (rows[i - 2]?.[j - 2] ?? 0) + 1 : Infinity,
        ),
      );
    }
    rows.push(row);
  }
  return rows[a.length]?.[b.length] ?? 0;
}
