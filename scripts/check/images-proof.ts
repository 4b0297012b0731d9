import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { root, runCommand } from "./run-command.ts";

/**
 * The inputs that decide which packages an image contains and how it is built; all other steps cover the
 * sources.
 */
const INPUTS = [
  "Dockerfile.*",
  ".dockerignore",
  ".npmrc",
  "pnpm-lock.yaml",
  "pnpm-workspace.yaml",
  "*package.json",
  "*package-lock.json",
  "*tsconfig*.json",
  "scripts/build-images.ts",
];

const proofFile = join(root, ".cache", "images-proof");

/** Whether this machine has already built the images from the same inputs. */
export async function imagesProof(): Promise<{ readonly isFresh: boolean; keep(): Promise<void> }> {
  const fingerprint = await fingerprintOfInputs();
  const proven = await readFile(proofFile, "utf8").catch(() => "");
  return {
    isFresh: proven === fingerprint,
    keep: async () => {
      await mkdir(dirname(proofFile), { recursive: true });
      await writeFile(proofFile, fingerprint);
    },
  };
}

async function fingerprintOfInputs(): Promise<string> {
  const { ok, output } = await runCommand(["git", "ls-files", "-z", "--", ...INPUTS], {
    timeoutMs: 60_000,
    signal: new AbortController().signal,
  });
  if (!ok) throw new Error(`git ls-files failed:\n${output}`);
  const hash = createHash("sha256");
  for (const file of output.split("\0").filter((path) => path !== ""))
    hash.update(`${file}\0`).update(await readFile(join(root, file)));
  return hash.digest("hex");
}
