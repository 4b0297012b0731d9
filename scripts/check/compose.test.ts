import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { solverSettings } from "../../apps/api/src/config/solver.ts";
import { root } from "./run-command.ts";

// Compose reads a whole file before it starts one of its services: a variable that any service requires is
// required for all.

/** Names of the variables that a compose file requires; `$$` is a literal `$`, and comments do not count. */
async function requiredBy(file: string): Promise<readonly string[]> {
  const text = (await readFile(join(root, file), "utf8")).replaceAll(/^\s*#.*$/gm, "").replaceAll("$$", "");
  return [...text.matchAll(/\$\{(\w+)(:?[?-])?/g)].flatMap(([, name = "", how = ""]) =>
    how.endsWith("-") ? [] : [name],
  );
}

test("who runs an oracle alone need not have what the API needs", async () => {
  expect(await requiredBy("docker-compose.oracle.yml")).toEqual([]);
});

test("the oracle has its own file, and the API's file requires passwords but no key, so that keys may come from files", async () => {
  expect(await readFile(join(root, "docker-compose.yml"), "utf8")).not.toContain("Dockerfile.oracle");
  expect(await readFile(join(root, "docker-compose.oracle.yml"), "utf8")).toContain("Dockerfile.oracle");
  expect(new Set(await requiredBy("docker-compose.yml"))).toEqual(
    new Set(["ENVIRONMENT", "POSTGRES_PASSWORD", "REDIS_PASSWORD"]),
  );
});

/** The lines of one service, up to the next. */
async function serviceOf(file: string, name: string): Promise<string> {
  const text = await readFile(join(root, file), "utf8");
  return new RegExp(`^  ${name}:\n(?:    .*\n|\n)+`, "m").exec(text)?.[0] ?? "";
}

test("each process reads a secrets folder of its own, where it looks for one, and the folders are in no repository or image", async () => {
  const folders = [
    ["docker-compose.yml", "api"],
    ["docker-compose.yml", "worker"],
    ["docker-compose.oracle.yml", "oracle"],
  ] as const;
  for (const [file, name] of folders) {
    const service = await serviceOf(file, name);
    expect(service).toContain(`    volumes: ["./secrets/${name}:/vault/secrets:ro"]\n`);
    // A value of the environment would be as visible as one of `.env`.
    expect(service).not.toMatch(/(PRIVATE_KEY|SOLVER_\w+_KEY|API_KEYS|TOKEN)(_FILE)?: [^"]/);
  }
  const lines = async (file: string) => (await readFile(join(root, file), "utf8")).split("\n");
  expect(await lines(".gitignore")).toContain("secrets/");
  expect((await lines(".dockerignore")).filter((line) => /^(\*$|!secrets)/.test(line))).toEqual(["*"]);
});

test("of the keys in .env the API gets only the solver's, and the worker all", async () => {
  const [api, worker] = await Promise.all([
    serviceOf("docker-compose.yml", "api"),
    serviceOf("docker-compose.yml", "worker"),
  ]);
  const keys = Object.values(solverSettings).flatMap(({ name, fromFile }) =>
    fromFile ? [name, `${name}_FILE`] : [],
  );
  const emptied = (service: string) => keys.filter((name) => service.includes(`\n      ${name}: ""\n`));
  expect(emptied(api)).toEqual(keys.filter((name) => !name.startsWith("SOLVER_PRIVATE_KEY")));
  expect(worker).toContain('command: ["dist/worker.js"]');
  expect(emptied(worker)).toEqual([]);
});
