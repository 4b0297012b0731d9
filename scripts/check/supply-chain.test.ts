import { spawnSync } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
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

test("the bootstrap script stops if the pinned Node was not installed", async () => {
  const folder = await mkdtemp(join(tmpdir(), "causeway-bootstrap-"));
  try {
    const pnpm = join(folder, "scripts/pnpm/node_modules/pnpm/bin");
    for (const path of [pnpm, join(folder, "apps"), join(folder, "packages"), join(folder, "bin")])
      await mkdir(path, { recursive: true });
    for (const file of ["scripts/bootstrap.mjs", "packages/contracts/scripts/compiled-inputs.mjs"])
      await cp(join(root, file), join(folder, file));
    // When the hash of an optional package differs from the lockfile, pnpm succeeds without the package.
    await writeFile(join(pnpm, "pnpm.cjs"), "");
    await writeFile(join(folder, "bin/npm"), "#!/bin/sh\n");
    await chmod(join(folder, "bin/npm"), 0o755);
    const { status, stderr } = spawnSync(process.execPath, ["scripts/bootstrap.mjs", "test"], {
      cwd: folder,
      env: { HOME: folder, PATH: `${join(folder, "bin")}:/usr/bin:/bin` },
      encoding: "utf8",
    });
    expect(stderr).toContain(
      "was not installed: the download failed or its hash differs from pnpm-lock.yaml",
    );
    expect(status).toBe(1);
  } finally {
    await rm(folder, { recursive: true });
  }
});

const manifest = /"packageManager": "pnpm@(?<version>[\d.]+)\+sha512\.(?<hex>[0-9a-f]{128})"/;
const locked = /"version": "(?<version>[\d.]+)",\n\s*"integrity": "sha512-(?<base64>[^"]+)"/;

test("checks pnpm against the same hash, no matter how it is started", async () => {
  const declared = manifest.exec(await read("package.json"))?.groups;
  const installed = locked.exec(await read("scripts/pnpm/package-lock.json"))?.groups;
  expect(declared).toEqual({
    version: installed?.["version"],
    hex: Buffer.from(installed?.["base64"] ?? "", "base64").toString("hex"),
  });
  for (const file of ["Dockerfile.api", "Dockerfile.oracle", "scripts/bootstrap.mjs", "CONTRIBUTING.md"])
    expect(await read(file)).not.toMatch(/npx -/);
});

test("base images can be pinned by digest", async () => {
  for (const file of ["Dockerfile.api", "Dockerfile.oracle"]) {
    const images = [...(await read(file)).matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
    expect(new Set(images)).toEqual(new Set(["${NODE_IMAGE}"]));
  }
  for (const file of ["docker-compose.yml", "docker-compose.oracle.yml"])
    expect(await read(file)).not.toMatch(/image: (node|postgres|redis):/);
});
