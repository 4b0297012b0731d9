import { readFileSync } from "node:fs";
import { join } from "node:path";
import { closestName } from "@causeway/config";
import { repositoryRoot } from "@causeway/testkit";

/**
 * Variables that the local system sets itself. Changing one could connect it to a different system and leak
 * this system's well-known keys to it.
 */
const OWN_SETTING =
  /^(?:DATABASE_|REDIS_|HTTP_|ENVIRONMENT$|NODE_ENV$|CONFIGS_DIR$|ORACLE_URLS$|QUEUE_PREFIX$)|_(?:PRIVATE_KEY|SOLANA_KEY|BITCOIN_KEY|FORMER_KEYS|RPC_URL|WS_URL)(?:_FILE)?$/;
/** The part of docs/CONFIG.md with the variables of the API and the workers. */
const API_PART = /^## API and worker$(.*?)^## /ms;

/**
 * @throws Error unless the text is `NAME=VALUE` with a variable that the API or a worker reads and that the
 * local system does not set itself
 */
export function readSetOption(text: string, known = apiVariables()): [name: string, value: string] {
  const [, name, value] = /^([A-Z][A-Z0-9_]*)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new Error(`--set expects NAME=VALUE, with a name from docs/CONFIG.md; got ${text}`);
  if (OWN_SETTING.test(name))
    throw new Error(`--set cannot change ${name}, because the local system sets it itself`);
  if (!known.includes(name)) {
    const closest = closestName(name, known);
    throw new Error(
      `--set ${name}: neither the API nor the worker reads this variable${closest === undefined ? "; see docs/CONFIG.md" : `; did you mean ${closest}?`}`,
    );
  }
  return [name, value];
}

/** From the generated page, because a package must not import an app. */
function apiVariables(): readonly string[] {
  const page = readFileSync(join(repositoryRoot, "docs", "CONFIG.md"), "utf8");
  const rows = (API_PART.exec(page)?.[1] ?? "").split("\n").filter((line) => line.startsWith("| `"));
  return rows.flatMap((row) =>
    [...(row.split("|")[1] ?? "").matchAll(/`([A-Z0-9_]+)`/g)].map(([, name]) => name ?? ""),
  );
}
