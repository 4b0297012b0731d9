import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { apiSettingGroups } from "../config/settings.ts";

// Long enough for a process to start on a busy machine.
const START_MS = 20_000;

test.for(["main.ts", "worker.ts"])(
  "%s lists missing settings and exits with 1 without configuration",
  { timeout: 2 * START_MS },
  (entry) => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ["--no-warnings", "-C", "source", join(import.meta.dirname, "..", entry)],
      { encoding: "utf8", env: { VAULT_SECRETS_DIR: "/nonexistent" }, timeout: START_MS },
    );
    expect(status).toBe(1);
    expect(stderr).toContain("  - DATABASE_URL is required");
    expect(stderr).toContain("  - SOLVER_PRIVATE_KEY is required");
    expect(stderr + stdout, "no stack, no piece of source").not.toMatch(/\bat .*:\d+:\d+|throw new/);
  },
);

// Preloaded before the program. At exit, writes the environment that libraries and child processes would see.
const spy = `data:text/javascript,${encodeURIComponent(`
  import { execFileSync } from "node:child_process";
  process.on("exit", () => {
    const child = execFileSync("env", { encoding: "utf8" });
    process.stdout.write(JSON.stringify({ program: process.env, child }));
  });
`)}`;

test.for(["main.ts", "worker.ts", "migrate.ts", "operator.ts"])(
  "%s leaves no secret in its environment, nor for child processes",
  { timeout: 2 * START_MS },
  (entry) => {
    const names = apiSettingGroups
      .flatMap(({ settings }) => Object.values(settings))
      .flatMap(({ name, fromFile }) => (fromFile ? [name] : []));
    expect(names).toContain("ALLOCATOR_PRIVATE_KEY");
    const secrets = Object.fromEntries(
      [...names, "BASE_RPC_URL", "POSTGRES_PASSWORD", "PGPASSWORD"].map((name) => [name, "hunter2"]),
    );
    // Not a URL: every entry ends before it opens a connection.
    const { stdout } = spawnSync(
      process.execPath,
      ["--no-warnings", "-C", "source", "--import", spy, join(import.meta.dirname, "..", entry)],
      {
        encoding: "utf8",
        env: { PATH: process.env["PATH"], VAULT_SECRETS_DIR: "/nonexistent", ...secrets },
        timeout: START_MS,
      },
    );
    expect(stdout).toContain('"program":{"PATH"');
    expect(stdout).not.toContain("hunter2");
    for (const name of Object.keys(secrets)) expect(stdout).not.toContain(name);
  },
);
