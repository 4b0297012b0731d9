import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./run-command.ts";

const read = async (file: string): Promise<string> => await readFile(join(root, file), "utf8");

test("the Node that runs the project comes from the lockfile with its hash, not from an install script", async () => {
  const [version = "", lockfile, workspace] = await Promise.all(
    [".nvmrc", "pnpm-lock.yaml", "pnpm-workspace.yaml"].map(read),
  );
  const node = version.trim();
  expect(process.versions.node).toBe(node);
  for (const platform of ["linux-arm64", "linux-x64"])
    expect(lockfile).toContain(`\n  node-${platform}@${node}:\n    resolution: {integrity: sha512-`);
  expect(lockfile).not.toMatch(/^ {2}node(-bin-setup)?@/m);
  expect(workspace).not.toMatch(/^ {2}node: true$/m);
  expect(workspace).toContain(`\nnodeVersion: ${node}\n`);
});
