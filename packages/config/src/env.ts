import { readFileSync } from "node:fs";
import { ConfigError, gather } from "./config-error.ts";

/**
 * Names and values as a process gets them. An empty value counts as absent: compose files pass those for
 * unset variables.
 */
export type Env = Readonly<Record<string, string | undefined>>;

/** What one text becomes, or why it cannot. The problem never quotes the text. */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: string };

/** One environment variable: how it is read, and what the documentation says about it. */
export interface Setting<T> {
  readonly name: string;
  readonly describe: string;
  /** What a value looks like, e.g. `integer 1..65535`. */
  readonly kind: string;
  readonly parse: (text: string) => Parsed<T>;
  /** Also readable from the file that `<NAME>_FILE` names. */
  readonly fromFile: boolean;
  readonly whenAbsent: { readonly kind: "required" } | { readonly kind: "value"; readonly value: T };
}

/** Settings by the field they fill. */
export type Settings = Readonly<Record<string, Setting<unknown>>>;

/** The object that `readSettings` gives for `S`. */
export type SettingValues<S extends Settings> = {
  readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never;
};

/**
 * Reads every setting: absent gives its default, present but invalid is a problem.
 * @throws ConfigError with all problems together.
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

/** Those of the settings whose variables are right, for checks between settings beside those of each. */
export function validSettings<const S extends Settings>(settings: S, env: Env): Partial<SettingValues<S>> {
  const values: Record<string, unknown> = {};
  for (const [field, setting] of Object.entries(settings))
    gather([], () => Object.assign(values, readSettings({ [field]: setting }, env)));
  return values as Partial<SettingValues<S>>;
}

/** The raw text; `""` when absent; undefined when it cannot be had, which is then a problem. */
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
    // Somebody wanted it set: a key list that came out empty must not open the service.
    if (content === "") problems.push(`${fileName} names an empty file`);
    return content === "" ? undefined : content;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    problems.push(`${fileName} names an unreadable file (${code})`);
    return undefined;
  }
}
