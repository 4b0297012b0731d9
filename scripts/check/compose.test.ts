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
    ["docker-compose.yml", "signer"],
    ["docker-compose.yml", "api"],
    ["docker-compose.yml", "worker"],
    ["docker-compose.oracle.yml", "oracle"],
  ] as const;
  for (const [file, name] of folders) {
    const service = await serviceOf(file, name);
    expect(service).toContain(`    volumes: ["./secrets/${name}:/vault/secrets:ro"`);
    // A value of the environment would be as visible as one of `.env`.
    expect(service).not.toMatch(/(PRIVATE_KEY|SOLVER_\w+_KEY|API_KEYS|TOKEN)(_FILE)?: [^"]/);
  }
  const lines = async (file: string) => (await readFile(join(root, file), "utf8")).split("\n");
  expect(await lines(".gitignore")).toContain("secrets/");
  expect((await lines(".dockerignore")).filter((line) => /^(\*$|!secrets)/.test(line))).toEqual(["*"]);
});

test("no process gets a private key from .env, and the API none from a file that .env names", async () => {
  const text = await readFile(join(root, "docker-compose.yml"), "utf8");
  const shared = /^x-solver:.*\n(?:  .*\n|\n)+/m.exec(text)?.[0] ?? "";
  const [signer, api, worker] = await Promise.all(
    ["signer", "api", "worker"].map((name) => serviceOf("docker-compose.yml", name)),
  );
  const settings = Object.values(solverSettings).filter(({ name }) => /_(KEYS?|SIGNERS?)$/.test(name));
  const privateKeys = settings.flatMap(({ name }) => (/_KEYS?$/.test(name) ? [name] : []));
  const emptied = (service: string | undefined, names: readonly string[]) =>
    names.filter((name) => new RegExp(`^ +${name}: ""$`, "m").test(service ?? ""));
  expect(privateKeys).toHaveLength(6);
  expect(emptied(shared, privateKeys)).toEqual(privateKeys);
  const others = settings.flatMap(({ name }) =>
    privateKeys.includes(name) ? [`${name}_FILE`] : [name, `${name}_FILE`],
  );
  expect(emptied(api, others)).toEqual(others);
  for (const service of [api, worker]) expect(service).toContain("<<: *solver-environment");
  // It reads nothing of `.env` but what is listed.
  expect(signer).not.toContain("env_file");
});

test("the API reaches the signer through a socket that no other service mounts", async () => {
  const text = await readFile(join(root, "docker-compose.yml"), "utf8");
  expect(text.match(/signer:\/run\/causeway/g)).toHaveLength(2);
  expect(await serviceOf("docker-compose.yml", "api")).toContain("ORDER_SIGNER_URL: *order-signer");
  expect(await serviceOf("docker-compose.yml", "signer")).toContain("network_mode: ${SIGNER_NETWORK:-none}");
});
