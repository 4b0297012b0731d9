import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describeSettings, unknownVariables } from "@causeway/config";
import type { SettingGroup } from "@causeway/config";
import { expect, test } from "vitest";
import { apiSettingGroups } from "../../apps/api/src/settings.ts";
import { oracleSettingGroups } from "../../apps/oracle/src/settings.ts";
import { root } from "./run-command.ts";

const configsDir = join(root, "configs");

async function variablesOf(file: string): Promise<readonly string[]> {
  return [...(await readFile(join(root, file), "utf8")).matchAll(/^#?([A-Z][A-Z0-9_]+)=/gm)].map(
    ([, name = ""]) => name,
  );
}

/** Every variable that a table of docs/CONFIG.md names for these processes. */
function documented(groups: readonly SettingGroup[]): readonly string[] {
  return [...describeSettings(groups).matchAll(/^\| `(\w+)`(?: or `(\w+)`)?/gm)].flatMap(([, ...names]) =>
    names.filter((name) => name !== undefined),
  );
}

test.each([
  ["API and worker", apiSettingGroups],
  ["oracle", oracleSettingGroups],
])(
  "variables of every process and of compose may be set together: none is taken for a misspelled one of %s",
  async (_name, groups) => {
    const names = [
      ...documented([...apiSettingGroups, ...oracleSettingGroups]),
      ...(await variablesOf(".env.example")),
      ...(await variablesOf(".env.oracle.example")),
      "PORT",
      "API_PORT",
      "ORACLE_PORT",
      "HEALTHCHECK_PORT",
      "NODE_IMAGE",
      "POSTGRES_IMAGE",
      "REDIS_IMAGE",
    ];
    expect(names.length).toBeGreaterThan(150);
    const env = Object.fromEntries(names.map((name) => [name, "x"]));
    for (const name of names) {
      // Alone, since a misspelled variable is tolerated beside the one that it is like.
      expect(unknownVariables({ [name]: "x" }, groups, configsDir).problems).toEqual([]);
    }
    expect(unknownVariables(env, groups, configsDir).problems).toEqual([]);
  },
);
