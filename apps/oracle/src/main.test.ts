import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { oracleSettingGroups } from "./settings.ts";

const START_MS = 20_000;

// Preloaded: at exit it writes the environment that a library and a child process would see.
const spy = `data:text/javascript,${encodeURIComponent(`
  import { execFileSync } from "node:child_process";
  process.on("exit", () => {
    const child = execFileSync("env", { encoding: "utf8" });
    process.stdout.write(JSON.stringify({ own: process.env, child }));
  });
`)}`;

test("leaves no secret in its environment or in that of child processes", { timeout: 2 * START_MS }, () => {
  const names = oracleSettingGroups
    .flatMap(({ settings }) => Object.values(settings))
    .flatMap(({ name, fromFile }) => (fromFile ? [name] : []));
  expect(names).toEqual([
    "ECDSA_PRIVATE_KEY",
    "PEERS",
    "API_KEYS",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_HEADERS",
  ]);
  const secrets = Object.fromEntries(
    [...names, "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "BASE_RPC_URL"].map((name) => [name, "hunter2"]),
  );
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--no-warnings", "-C", "source", "--import", spy, join(import.meta.dirname, "main.ts")],
    {
      encoding: "utf8",
      env: { PATH: process.env["PATH"], VAULT_SECRETS_DIR: "/nonexistent", ...secrets },
      timeout: START_MS,
    },
  );
  expect(stderr).toContain("ENVIRONMENT is required");
  expect(stdout).toContain('"own":{"PATH"');
  expect(stdout).not.toContain("hunter2");
  for (const name of Object.keys(secrets)) expect(stdout).not.toContain(name);
});
