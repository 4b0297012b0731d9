import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { readSignerConfig } from "../../apps/api/src/config/signer-config.ts";
import { apiSettingGroups, deploySettings, withdrawSettings } from "../../apps/api/src/config/settings.ts";
import { solverSettings } from "../../apps/api/src/config/solver.ts";
import { oracleSettingGroups } from "../../apps/oracle/src/settings.ts";
import { root } from "./run-command.ts";

// Compose interpolates the whole file before it starts any service: a variable that one service requires is
// required to start any of them.

/** Names of the variables that a compose file requires; `$$` is a literal `$`, and comments do not count. */
async function requiredBy(file: string): Promise<readonly string[]> {
  const text = (await readFile(join(root, file), "utf8")).replaceAll(/^\s*#.*$/gm, "").replaceAll("$$", "");
  return [...text.matchAll(/\$\{(\w+)(:?[?-])?/g)].flatMap(([, name = "", operator = ""]) =>
    operator.endsWith("-") ? [] : [name],
  );
}

test("the oracle's compose file requires no variables", async () => {
  expect(await requiredBy("docker-compose.oracle.yml")).toEqual([]);
});

test("the API's compose file requires passwords but no keys, and excludes the oracle", async () => {
  expect(await readFile(join(root, "docker-compose.yml"), "utf8")).not.toContain("Dockerfile.oracle");
  expect(await readFile(join(root, "docker-compose.oracle.yml"), "utf8")).toContain("Dockerfile.oracle");
  expect(new Set(await requiredBy("docker-compose.yml"))).toEqual(
    new Set(["ENVIRONMENT", "POSTGRES_PASSWORD", "REDIS_PASSWORD"]),
  );
});

interface Service {
  readonly command?: readonly string[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly profiles?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, unknown>>;
  readonly healthcheck?: { readonly test?: unknown };
}

async function servicesOf(file: string): Promise<Readonly<Record<string, Service>>> {
  const { services } = parse(await readFile(join(root, file), "utf8"), { merge: true }) as {
    services: Record<string, Service>;
  };
  return services;
}

/** The lines of one service, up to the next. */
async function serviceOf(file: string, name: string): Promise<string> {
  const text = await readFile(join(root, file), "utf8");
  return new RegExp(`^  ${name}:\n(?:    .*\n|\n)+`, "m").exec(text)?.[0] ?? "";
}

test("mounts a separate secrets folder into each process, and keeps the folders out of git and the image", async () => {
  const folders = [
    ["docker-compose.yml", "signer"],
    ["docker-compose.yml", "payment-signer"],
    ["docker-compose.yml", "api"],
    ["docker-compose.yml", "worker"],
    ["docker-compose.oracle.yml", "oracle"],
  ] as const;
  for (const [file, name] of folders) {
    const service = await serviceOf(file, name);
    const { volumes = [] } = (await servicesOf(file))[name] ?? {};
    const mounted = volumes.filter((volume) => volume.includes("/vault/secrets"));
    expect(mounted).toEqual([`./secrets/${name}:/vault/secrets:ro`]);
    // An environment variable would be as visible as one in `.env`.
    expect(service).not.toMatch(/(PRIVATE_KEY|SOLVER_\w+_KEY|API_KEYS|TOKEN)(_FILE)?: [^"]/);
  }
  const lines = async (file: string) => (await readFile(join(root, file), "utf8")).split("\n");
  expect(await lines(".gitignore")).toContain("secrets/");
  expect((await lines(".dockerignore")).filter((line) => /^(\*$|!secrets)/.test(line))).toEqual(["*"]);
});

test("passes no private key from .env to any process, and no key file to the API", async () => {
  const text = await readFile(join(root, "docker-compose.yml"), "utf8");
  const shared = /^x-solver:.*\n(?:  .*\n|\n)+/m.exec(text)?.[0] ?? "";
  const [signer, paymentSigner, api, worker] = await Promise.all(
    ["signer", "payment-signer", "api", "worker"].map((name) => serviceOf("docker-compose.yml", name)),
  );
  const settings = Object.values(solverSettings).filter(({ name }) => /_(KEYS?|SIGNERS?)$/.test(name));
  const privateKeys = settings.flatMap(({ name }) => (/_KEYS?$/.test(name) ? [name] : []));
  const emptyIn = (service: string | undefined, names: readonly string[]) =>
    names.filter((name) => new RegExp(`^ +${name}: ""$`, "m").test(service ?? ""));
  expect(privateKeys).toHaveLength(6);
  expect(emptyIn(shared, privateKeys)).toEqual(privateKeys);
  const otherNames = settings.flatMap(({ name }) =>
    privateKeys.includes(name) ? [`${name}_FILE`] : [name, `${name}_FILE`],
  );
  expect(emptyIn(api, otherNames)).toEqual(otherNames);
  for (const service of [api, worker]) expect(service).toContain("<<: *solver-environment");
  // The signers get only the variables of `.env` that the compose file lists.
  for (const service of [signer, paymentSigner]) expect(service).not.toMatch(/env_file|<<: \*solver/);
});

test.each([
  ["signer", "signer", "api"],
  ["payment-signer", "payment-signer", "worker"],
])("%s listens on a socket in volume %s, which only %s also mounts", async (name, volume, client) => {
  const services = await servicesOf("docker-compose.yml");
  const mounting = Object.entries(services).flatMap(([service, { volumes = [] }]) =>
    volumes.includes(`${volume}:/run/causeway`) ? [service] : [],
  );
  expect(mounting.toSorted()).toEqual([name, client].toSorted());
  expect(await serviceOf("docker-compose.yml", name)).toContain("network_mode: ${SIGNER_NETWORK:-none}");
});

test("the API uses the socket of its signer", async () => {
  expect(await serviceOf("docker-compose.yml", "api")).toContain("ORDER_SIGNER_URL: *order-signer");
});

test("the limited signer starts only with its profile, uses the files from docs/operations/keys.md, and persists its record", async () => {
  const services = await servicesOf("docker-compose.yml");
  const signer = services["payment-signer"];
  expect(signer?.profiles).toEqual(["limits"]);
  expect(services["worker"]?.depends_on?.["payment-signer"]).toEqual({
    condition: "service_healthy",
    required: false,
  });
  const page = await readFile(join(root, "docs/operations/keys.md"), "utf8");
  const { ORDER_SIGNER_URL = "", SIGNING_RULES_FILE = "", SIGNING_RECORD = "" } = signer?.environment ?? {};
  expect(page).toContain(`SOLVER_SIGNER=signer:${ORDER_SIGNER_URL}`);
  expect(page).toContain(SIGNING_RULES_FILE.replace("/vault/secrets/", "secrets/payment-signer/"));
  const mounts = (signer?.volumes ?? []).map((volume) => volume.split(":"));
  expect(mounts.find(([, path]) => path === dirname(SIGNING_RECORD))?.[0]).toBe("signing-record");
});

test("the limited signer accepts its compose variables, with the key and the rules from files", async () => {
  const { environment } = (await servicesOf("docker-compose.yml"))["payment-signer"] ?? {};
  const folder = await mkdtemp(join(tmpdir(), "causeway-compose-"));
  try {
    await mkdir(join(folder, "files"));
    const rules = join(folder, "files", "rules.json");
    await writeFile(join(folder, "keys"), `SOLVER_PRIVATE_KEY=0x${"1".repeat(64)}\n`);
    const page = await readFile(join(root, "docs/operations/keys.md"), "utf8");
    const [, example = ""] = /```json\n([\s\S]*?)```/.exec(page) ?? [];
    await writeFile(rules, example.replaceAll("0x…", `0x${"2".repeat(40)}`));
    const config = readSignerConfig({
      ...environment,
      ENVIRONMENT: "testnets.prod",
      SOLVER_ADDRESS: "",
      LOG_LEVEL: "info",
      SIGNING_RULES_FILE: rules,
      VAULT_SECRETS_DIR: folder,
    });
    expect(config.signing?.recordPath).toBe("/var/lib/causeway/signed");
    expect(config.signing?.rules.key).toBe("solver");
  } finally {
    await rm(folder, { recursive: true });
  }
});

// YAML parses an unquoted list item that contains a colon and a space as a map.
test.each(["docker-compose.yml", "docker-compose.oracle.yml"])(
  "every health check in %s is a list of strings",
  async (file) => {
    const checks = Object.entries(await servicesOf(file)).flatMap(([name, { healthcheck }]) =>
      healthcheck?.test === undefined ? [] : [{ name, test: healthcheck.test }],
    );
    expect(
      checks.filter(({ test }) => !(Array.isArray(test) && test.every((word) => typeof word === "string"))),
    ).toEqual([]);
  },
);

test("runs Redis as PID 1, so that it receives SIGTERM, without its password on the command line", async () => {
  const { redis } = await servicesOf("docker-compose.yml");
  const [shell = "", ...args] = (redis?.command ?? []).map((word) => word.replaceAll("$$", "$"));
  const folder = await mkdtemp(join(tmpdir(), "causeway-compose-"));
  try {
    // In place of redis-server: prints its process id, its arguments and its configuration.
    await writeFile(join(folder, "redis-server"), '#!/bin/sh\necho "$$ $*"\ncat\n', { mode: 0o755 });
    const child = spawn(shell, args, {
      env: { PATH: `${folder}:${process.env["PATH"] ?? ""}`, REDIS_PASSWORD: "letters" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const output = await text(child.stdout);
    expect(output.split("\n")).toEqual([
      `${child.pid} -`,
      "maxmemory 256mb",
      "maxmemory-policy noeviction",
      "appendonly yes",
      'requirepass "letters"',
      "",
    ]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("API, worker and oracle read the mounted configs/, and the worker's metrics are reachable only from the host", async () => {
  const { api, worker } = await servicesOf("docker-compose.yml");
  const { oracle } = await servicesOf("docker-compose.oracle.yml");
  for (const service of [api, worker, oracle])
    expect(service?.volumes).toContain("./configs:/app/configs:ro");
  expect(worker?.ports).toEqual(["127.0.0.1:${WORKER_PORT:-3001}:3001"]);
});

test("keys that only operator commands need reach neither the API nor the worker", async () => {
  const compose = await readFile(join(root, "docker-compose.yml"), "utf8");
  const shared = /^x-solver:.*\n(?:  .*\n|\n)+/m.exec(compose)?.[0] ?? "";
  const names = [withdrawSettings, deploySettings].flatMap((group) =>
    Object.values(group).flatMap(({ name }) => (/_(KEY|SIGNER)$/.test(name) ? [name] : [])),
  );
  expect(names.filter((name) => !shared.includes(`    ${name}: ""\n`))).toEqual([]);
});

test("every required setting and every private key appears in .env.example or in the compose file", async () => {
  const places = [".env.example", "docker-compose.yml"] as const;
  const texts = await Promise.all(places.map(async (file) => await readFile(join(root, file), "utf8")));
  const settings = apiSettingGroups.flatMap((group) => Object.values(group.settings));
  const needed = settings.flatMap(({ name, kind, whenAbsent }) =>
    whenAbsent.kind === "required" || /private key/.test(kind) ? [name] : [],
  );
  expect(needed).toContain("EXECUTOR_PRIVATE_KEY");
  const missing = needed.filter(
    (name) => !texts.some((fileText) => new RegExp(`\\b${name}\\b`).test(fileText)),
  );
  expect(missing).toEqual([]);
});

test("every line of an example file is a setting, belongs to an entry of a chain file, or is read by compose", async () => {
  const files = [
    [".env.example", "docker-compose.yml", apiSettingGroups],
    [".env.oracle.example", "docker-compose.oracle.yml", oracleSettingGroups],
  ] as const;
  const configs = await Promise.all(
    (await readdir(join(root, "configs"))).map(
      async (file) => await readFile(join(root, "configs", file), "utf8"),
    ),
  );
  for (const [example, compose, groups] of files) {
    const settings = new Set(
      groups.flatMap((group) => Object.values(group.settings).map(({ name }) => name)),
    );
    const composeText = await readFile(join(root, compose), "utf8");
    const lines = (await readFile(join(root, example), "utf8")).matchAll(/^#?([A-Z][A-Z0-9_]+)=/gm);
    const unknown = [...lines].flatMap(([, name = ""]) => {
      const isRead =
        name === "COMPOSE_PROFILES" ||
        composeText.includes(`\${${name}`) ||
        configs.some((config) => config.includes(`"$${name}"`));
      return settings.has(name) || isRead ? [] : [name];
    });
    expect(unknown).toEqual([]);
  }
});
