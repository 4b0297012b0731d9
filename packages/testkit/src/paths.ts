import { chmodSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** The folder of the repository. */
export const repositoryRoot: string = resolve(import.meta.dirname, "../../..");

/** Everything that local systems write: a folder for each, called by its first port, and what they share. */
export const localnetDir: string = join(repositoryRoot, ".localnet");

/** Where things that may be thrown away at any time are kept between runs. */
export const cacheDir: string = join(localnetDir, "cache");

/**
 * Where Node.js keeps the code that it has compiled, so that the next process starts in half the time;
 * `bootstrap.mjs` names it, too.
 */
export const compiledCodeDir: string = join(repositoryRoot, ".cache", "code");

/** The Node that runs every process of the workspace: the one that runs this. */
export const workspaceNode: string = process.execPath;

/** Where system tools are, for children that otherwise need nothing from our environment. */
export const systemPath = "/usr/local/bin:/usr/bin:/bin";

/**
 * A new empty folder under the system's temporary folder, which other users may enter: Postgres must, and is
 * never run as root. The caller removes it.
 */
export function newTempDir(purpose: string): string {
  const folder = mkdtempSync(join(tmpdir(), `causeway-${purpose}-`));
  chmodSync(folder, 0o755);
  return folder;
}
