import { readFileSync } from "node:fs";
import { ConfigError, gather } from "./config-error.ts";

/** Environment variables. An empty value counts as unset: Compose passes empty values for unset variables. */
export type Env = Readonly<Record<string, string | undefined>>;

/** The value of a text, or why it is invalid. The problem never quotes the text. */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: string };

/** One environment variable: how it is read, and how it is documented. */
export interface Setting<T> {
  readonly name: string;
  readonly describe: string;
  /** Form of its values, for example `integer 1..65535`. */
  readonly kind: string;
  readonly parse: (text: string) => Parsed<T>;
  /** Whether `<NAME>_FILE` may name a file with the value. */
  readonly fromFile: boolean;
  readonly whenAbsent: { readonly kind: "required" } | { readonly kind: "value"; readonly value: T };
}

/** Settings by the field that they fill. */
export type Settings = Readonly<Record<string, Setting<unknown>>>;

/** The values of settings, by field. */
export type SettingValues<S extends Settings> = {
  readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never;
};

/** Groups of settings, by name. */
export type SettingGroups = Readonly<Record<string, Settings>>;

/** The values of every group. */
export type GroupValues<G extends SettingGroups> = { readonly [K in keyof G]: SettingValues<G[K]> };

/** The values of every group, without those that are missing or invalid. */
export type ValidGroups<G extends SettingGroups> = {
  readonly [K in keyof G]: Partial<SettingValues<G[K]>>;
};

/**
 * Reads all groups.
 * @throws ConfigError with the problems of all groups
 */
export function readGroups<const G extends SettingGroups>(groups: G, env: Env): GroupValues<G> {
  const problems: string[] = [];
  const values = Object.entries(groups).map(([name, settings]) => [
    name,
    gather(problems, () => readSettings(settings, env)),
  ]);
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.fromEntries(values) as GroupValues<G>;
}

/**
 * Reads the valid settings of all groups, for checks between settings: an invalid setting must not hide the
 * problems of others.
 */
export function validGroups<const G extends SettingGroups>(groups: G, env: Env): ValidGroups<G> {
  const values = Object.entries(groups).map(([name, settings]) => [name, validSettings(settings, env)]);
  return Object.fromEntries(values) as ValidGroups<G>;
}

/**
 * Reads settings. An unset variable gives its default; an invalid value is a problem.
 * @throws ConfigError with all problems
 */
export function readSettings<const S extends Settings>(settings: S, env: Env): SettingValues<S> {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [field, setting] of Object.entries(settings)) {
    const text = textOf(setting, env, problems);
    if (text === undefined) continue;
    if (text === "") {
      if (setting.whenAbsent.kind === "value") values[field] = setting.whenAbsent.value;
      else problems.push(`${setting.name} is required: ${setting.kind}`);
      continue;
    }
    const parsed = setting.parse(text);
    if (parsed.ok) values[field] = parsed.value;
    else problems.push(`${setting.name} ${parsed.problem}`);
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return values as SettingValues<S>;
}

function validSettings(settings: Settings, env: Env): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [field, setting] of Object.entries(settings))
    gather([], () => Object.assign(values, readSettings({ [field]: setting }, env)));
  return values;
}

/** The text of a variable; `""` if it is unset, undefined after a problem. */
function textOf(setting: Setting<unknown>, env: Env, problems: string[]): string | undefined {
  const direct = env[setting.name]?.trim() ?? "";
  if (!setting.fromFile) return direct;
  const fileName = `${setting.name}_FILE`;
  const path = env[fileName]?.trim() ?? "";
  if (path === "") return direct;
  if (direct !== "") {
    problems.push(`${setting.name} and ${fileName} are both set; keep one`);
    return undefined;
  }
  try {
    const content = readFileSync(path, "utf8").trim();
    // The operator intended to set it: an empty list of keys must not open the service to everyone.
    if (content === "") problems.push(`${fileName} names an empty file`);
    return content === "" ? undefined : content;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    problems.push(`${fileName} names an unreadable file (${code})`);
    return undefined;
  }
}
