import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./run-command.ts";

// Compose reads a whole file before it starts one service of it: a variable that any service requires is required for all.

/** Names of the variables that a file of compose requires; `$$` is a literal `$`, comments are none of its business. */
async function requiredBy(file: string): Promise<readonly string[]> {
  const text = (await readFile(join(root, file), "utf8")).replaceAll(/^\s*#.*$/gm, "").replaceAll("$$", "");
  return [...text.matchAll(/\$\{(\w+)(:?[?-])?/g)].flatMap(([, name = "", how = ""]) =>
    how.endsWith("-") ? [] : [name],
  );
}

test("who runs an oracle alone need not have what the API needs", async () => {
  expect(await requiredBy("docker-compose.oracle.yml")).toEqual([]);
});

test("the oracle stands in its own file, and the API's file requires its keys and passwords", async () => {
  expect(await readFile(join(root, "docker-compose.yml"), "utf8")).not.toContain("Dockerfile.oracle");
  expect(await readFile(join(root, "docker-compose.oracle.yml"), "utf8")).toContain("Dockerfile.oracle");
  expect(new Set(await requiredBy("docker-compose.yml"))).toEqual(
    new Set(["ENVIRONMENT", "SOLVER_PRIVATE_KEY", "POSTGRES_PASSWORD", "REDIS_PASSWORD"]),
  );
});
