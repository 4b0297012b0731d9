import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

// Its start is waited for as long as the process may take, also on a busy machine.
const START_MS = 20_000;

test.for(["main.ts", "worker.ts"])(
  "%s without configuration lists what it lacks and exits 1",
  { timeout: START_MS + 5_000 },
  (entry) => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ["--no-warnings", "-C", "source", join(import.meta.dirname, entry)],
      { encoding: "utf8", env: { VAULT_SECRETS_DIR: "/nonexistent" }, timeout: START_MS },
    );
    expect(status).toBe(1);
    expect(stderr).toContain("  - DATABASE_URL is required");
    expect(stderr).toContain("  - SOLVER_PRIVATE_KEY is required");
    expect(stderr + stdout, "no stack, no piece of source").not.toMatch(/\bat .*:\d+:\d+|throw new/);
  },
);
