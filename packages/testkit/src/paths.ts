import { chmodSync, mkdtempSync, statfsSync } from "node:fs";
import { freemem, tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** Root folder of the repository. */
export const repositoryRoot: string = resolve(import.meta.dirname, "../../..");

/** Files of local systems: one folder per system, named after its first port, and shared files. */
export const localnetDir: string = join(repositoryRoot, ".localnet");

/** Files that are kept between runs and may be deleted at any time. */
export const cacheDir: string = join(localnetDir, "cache");

/**
 * Compile cache of Node.js, which halves the start time of the next process. `bootstrap.mjs` uses the same
 * folder.
 */
export const compiledCodeDir: string = join(repositoryRoot, ".cache", "code");

/** The Node.js executable for all processes of the workspace: the current one. */
export const workspaceNode: string = process.execPath;

/** PATH of system tools, for children that inherit nothing else from the environment. */
export const systemPath = "/usr/local/bin:/usr/bin:/bin";

/**
 * Creates an empty folder in the system's temporary folder. Other users can enter it: if this process is
 * root, Postgres runs as another user. The caller removes it.
 */
export function newTempDir(purpose: string): string {
  return newFolderIn(tmpdir(), purpose);
}

/** Where Linux mounts a file system in memory. */
const MEMORY_FOLDER = "/dev/shm";
const TMPFS = 0x01021994;

/**
 * Creates an empty folder in memory, or in the system's temporary folder if fewer than `minBytes` of memory
 * are free for it. Files in memory are created and removed much faster than on disk. The caller removes the
 * folder.
 */
export function newMemoryDir(purpose: string, minBytes: number): string {
  return newFolderIn(hasRoom(MEMORY_FOLDER, minBytes) ? MEMORY_FOLDER : tmpdir(), purpose);
}

function newFolderIn(parent: string, purpose: string): string {
  const folder = mkdtempSync(join(parent, `causeway-${purpose}-`));
  chmodSync(folder, 0o755);
  return folder;
}

function hasRoom(folder: string, minBytes: number): boolean {
  try {
    const { type, bavail, bsize } = statfsSync(folder);
    return type === TMPFS && Math.min(bavail * bsize, freemem()) >= minBytes;
  } catch {
    // Other systems and some containers do not have it.
    return false;
  }
}
