import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { startSystem } from "@causeway/localnet";
import type { System } from "@causeway/localnet";
import { afterAll, beforeAll, expect, test } from "vitest";

const README = new URL("../../README.md", import.meta.url);
let system: System;

beforeAll(async () => {
  system = await startSystem({ env: {}, portBase: 24_500, oracles: 0, durable: false });
}, 60_000);

afterAll(async () => {
  await system.stop();
});

test("the walk with curl in the README bridges, word for word", async () => {
  const page = await readFile(README, "utf8");
  const script = /```bash\n([\s\S]*?)```/.exec(page)?.[1];
  if (script === undefined) throw new Error("the README has no bash block");
  const [node] = system.nodes;
  if (node === undefined) throw new Error("the system has no chain");
  const { stdout, stderr } = await promisify(execFile)(
    "bash",
    ["--noprofile", "--norc", "-euo", "pipefail", "-c", script],
    {
      env: { ...process.env, API: system.endpoints.api.url, ORIGIN_RPC: node.url },
      timeout: 45_000,
    },
  );
  expect(stderr).toBe("");
  const lines = stdout.trim().split("\n");
  expect(lines.slice(0, 2)).toEqual(["72100117 Local Alder", "72100228 Local Birch"]);
  expect(lines.at(-2)).toBe("success");
  expect(lines.at(-1)).toBe("recipient");
}, 60_000);
