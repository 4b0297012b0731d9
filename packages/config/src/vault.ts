import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { ConfigError, gather } from "./config-error.ts";

/** The folder where a secrets agent mounts its files, unless `VAULT_SECRETS_DIR` is set. */
export const DEFAULT_VAULT_DIR = "/vault/secrets";

const LINE = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)$/;

/**
 * Parses `KEY=VALUE` lines. Nothing is executed or expanded: `$(…)`, backticks and `$NAME` stay text.
 * Blank lines and lines starting with `#` are skipped, a leading `export` is allowed, and one pair of
 * matching quotes around the whole value is removed.
 * @throws ConfigError with file and line number, never the line itself
 */
export function parseVaultFile(text: string, file: string): Record<string, string> {
  const values: Record<string, string> = {};
  const problems: string[] = [];
  for (const [index, rawLine] of text.split(/\r?\n/).entries()) {
    const line = rawLine.trim();
    if (line === "" || line.startsWith("#")) continue;
    const match = LINE.exec(line);
    const name = match?.[1];
    if (name === undefined) problems.push(`${file}:${index + 1}: expected a KEY=VALUE line`);
    else values[name] = unquote(match?.[2] ?? "");
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return values;
}

function unquote(text: string): string {
  const value = text.trim();
  const quote = value[0];
  return value.length >= 2 && (quote === '"' || quote === "'") && value.endsWith(quote)
    ? value.slice(1, -1)
    : value;
}

/**
 * The environment, overridden by the files of the secrets folder in alphabetical order: the last file wins. A
 * missing folder counts as empty.
 * @throws ConfigError with every file and line that cannot be read or parsed.
 */
export function withVaultSecrets(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  const dir = env["VAULT_SECRETS_DIR"] ?? DEFAULT_VAULT_DIR;
  const files =
    statSync(dir, { throwIfNoEntry: false })?.isDirectory() === true ? readdirSync(dir).sort() : [];
  const problems: string[] = [];
  const layers = files
    // Kubernetes mounts have `..data` links next to the files that they point to.
    .filter((file) => !file.startsWith("."))
    .map((file) => gather(problems, () => readVaultFile(join(dir, file))));
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.assign({}, env, ...layers) as Record<string, string | undefined>;
}

/** Empty if the path is not a file. @throws ConfigError */
function readVaultFile(path: string): Record<string, string> {
  let text: string;
  try {
    if (!statSync(path).isFile()) return {};
    text = readFileSync(path, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    throw new ConfigError([`${path}: file is unreadable (${code})`]);
  }
  return parseVaultFile(text, path);
}
