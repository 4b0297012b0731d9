import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { SettingGroup } from "./docs.ts";
import type { Env } from "./env.ts";

/** Variables of the environment that no setting and no chain file reads. */
export interface UnknownVariables {
  /** Misspelled: so much like a variable that is read, and that is unset, that it is meant. */
  readonly problems: readonly string[];
  /** Others that are like a variable that is read, or begin like a family of settings. */
  readonly warnings: readonly string[];
}

/** Shorter names are too often close to one another. */
const MIN_COMPARED_LENGTH = 8;
/** From this length on, two typing errors are looked for instead of one. */
const MIN_LENGTH_FOR_TWO = 16;
/**
 * What Kubernetes sets in every container for each service of the namespace, such as `REDIS_SERVICE_HOST` and
 * `REDIS_PORT_6379_TCP`.
 */
const OF_PLATFORM =
  /_SERVICE_(?:HOST|PORT)(?:_[A-Z0-9_]+)?$|_PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:ADDR|PORT|PROTO))?)?$/;
/** A prefix belongs to this service when so many settings begin with it. */
const MIN_FAMILY = 4;

/**
 * Finds misspelled variables. Those of other programs share the environment, so a name that is like none of
 * ours is passed over.
 * @param configsDir folder whose chain files name further variables; all of them, since several processes may
 * share one environment
 */
export function unknownVariables(
  env: Env,
  groups: readonly SettingGroup[],
  configsDir: string,
): UnknownVariables {
  const settings = groups.flatMap((group) => Object.values(group.settings));
  const names = settings.map(({ name }) => name);
  const files = settings.flatMap(({ name, fromFile }) => (fromFile ? [`${name}_FILE`] : []));
  const known = [...new Set([...names, ...files, ...variablesOfFiles(configsDir)])];
  const families = familiesOf(names);

  const isSet = (name: string): boolean => (env[name] ?? "").trim() !== "";
  const isGiven = (name: string): boolean =>
    isSet(name) || (files.includes(`${name}_FILE`) && isSet(`${name}_FILE`));
  const problems: string[] = [];
  const warnings: string[] = [];
  for (const name of Object.keys(env)) {
    if (known.includes(name) || !isSet(name)) continue;
    const like = known.filter((one) => isLike(name, one));
    const what = `${name} is set but is not a known setting`;
    if (like.length > 0 && !like.some(isGiven))
      problems.push(`${what}; rename it to ${like.join(" or ")}, or unset it`);
    else if (
      like.length > 0 ||
      (!OF_PLATFORM.test(name) && families.some((family) => name.startsWith(family)))
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

/** Every `$NAME` of the folder's chain files. Which files cannot be read is told where they are needed. */
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
 * The words with which many settings begin, with all that these have in common: `APP_BALANCE_`, since `APP_`
 * is anybody's.
 */
function familiesOf(names: readonly string[]): readonly string[] {
  const firstWords = new Set(names.map((name) => name.split("_", 1)[0]));
  return [...firstWords].flatMap((word) => {
    const members = names.filter((name) => name.startsWith(`${word}_`)).map((name) => name.split("_"));
    const [first = []] = members;
    const differs = first.findIndex((part, at) => members.some((member) => member[at] !== part));
    return members.length < MIN_FAMILY ? [] : [`${first.slice(0, differs).join("_")}_`];
  });
}

/** True when `text` is `name` but for case, underscores, and one typing error; in a long name two. */
function isLike(text: string, name: string): boolean {
  if (name.length < MIN_COMPARED_LENGTH) return false;
  const [a, b] = [text, name].map((one) => one.toUpperCase().replaceAll("_", "")) as [string, string];
  const allowed = name.length < MIN_LENGTH_FOR_TWO ? 1 : 2;
  return Math.abs(a.length - b.length) <= allowed && distance(a, b) <= allowed;
}

/**
 * Typing errors between two texts: a character too many, too few or another one, or two that have changed
 * places.
 */
function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, at) => at)];
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
