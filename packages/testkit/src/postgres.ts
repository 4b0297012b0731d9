import { execFile } from "node:child_process";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";
import { onPort } from "./free-port.ts";
import { cacheDir, systemPath } from "./paths.ts";
import { findPostgresLaunch, type PostgresLaunch } from "./postgres-launch.ts";
import { startProcess, type RunningProcess } from "./process.ts";
import { PATIENCE_MS } from "./patience.ts";

const run = promisify(execFile);

export interface PostgresOptions {
  /**
   * The folder of this server's data and log. It is created and owned by the user that the server runs as.
   */
  readonly dataDir: string;
  readonly port?: number;
  /**
   * False is faster, but a killed server loses its latest commits, which is acceptable in tests. Default:
   * true.
   */
  readonly durable?: boolean;
  /** Keep the data of a previous run. Default: false (start empty). */
  readonly keepData?: boolean;
  /** Further settings, each `name=value`. */
  readonly settings?: readonly string[];
  /**
   * Run as a streaming standby of this server. Both start with the same data: start the standby before the
   * primary removes its first log files (`wal_keep_size`). Default: a primary.
   */
  readonly standbyOf?: { readonly port: number };
  /** Remove `dataDir` when stopped, and when this process ends without stopping it. Default: false. */
  readonly removeDataAtStop?: boolean;
  readonly signal?: AbortSignal;
}

export interface RunningPostgres {
  /** Connects as the superuser to the database `postgres`. */
  readonly url: string;
  readonly port: number;
  readonly process: RunningProcess;
  stop(): Promise<void>;
}

/** Another Postgres is running on the same data folder. */
export class DataDirInUse extends Error {
  override readonly name = "DataDirInUse";
  readonly code = "DATA_DIR_IN_USE";
}

/**
 * Starts Postgres from the packaged binaries on 127.0.0.1, even as root.
 *
 * @throws PortInUse, DataDirInUse, ProcessStartFailed
 */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const launch = await findPostgresLaunch(options.dataDir);
  const cluster = join(launch.home, "cluster");
  await clearStaleLock(cluster);
  const hasData = (await stat(join(cluster, "PG_VERSION")).catch(() => undefined)) !== undefined;
  if (!hasData || options.keepData !== true) {
    await rm(cluster, { recursive: true, force: true });
    await makeCluster(cluster, launch);
    if (options.standbyOf !== undefined) await writeFile(join(cluster, "standby.signal"), "");
  }
  return await onPort(options.port, async (port) => await startOn(port, cluster, launch, options));
}

/** The address of another database on the same server. */
export function databaseUrl(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}

async function startOn(
  port: number,
  cluster: string,
  launch: PostgresLaunch,
  options: PostgresOptions,
): Promise<RunningPostgres> {
  const durability =
    options.durable === false ? ["fsync=off", "synchronous_commit=off", "full_page_writes=off"] : [];
  const settings = [
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "max_connections=200",
    "shared_buffers=256MB",
    // Statement errors are reported to the client; the log only contains problems of the server itself.
    "log_min_messages=warning",
    "log_min_error_statement=panic",
    ...durability,
    ...(options.standbyOf === undefined
      ? []
      : [`primary_conninfo=host=127.0.0.1 port=${options.standbyOf.port} user=postgres`]),
    ...(options.settings ?? []),
  ].flatMap((setting) => ["-c", setting]);
  const { command, args } = launch.command("postgres", ["-D", cluster, "-p", String(port), ...settings]);
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const server = await startProcess({
    name: "postgres",
    command,
    args,
    env: { PATH: systemPath, LC_ALL: "C.UTF-8" },
    cwd: "/",
    logFile: join(launch.home, "postgres.log"),
    isReady: async () => await acceptsConnections(url),
    // "Fast shutdown": ends open sessions instead of waiting for them.
    stopSignal: "SIGINT",
    ...(options.removeDataAtStop === true && { removeIfOrphaned: launch.home }),
    ...(launch.uid === undefined ? {} : { uid: launch.uid }),
    ...(launch.gid === undefined ? {} : { gid: launch.gid }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  return {
    url,
    port,
    process: server,
    stop: async () => {
      await server.stop();
      if (options.removeDataAtStop === true) await rm(launch.home, { recursive: true, force: true });
    },
  };
}

async function acceptsConnections(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query("select 1");
    return true;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Copies a cached, freshly initialized cluster; the first run of a server version creates it. */
async function makeCluster(cluster: string, launch: PostgresLaunch): Promise<void> {
  const pristine = join(cacheDir, `pgdata-${launch.version}-${launch.uid ?? process.getuid?.() ?? 0}`);
  if ((await stat(pristine).catch(() => undefined)) !== undefined) {
    // The system's cp keeps the owner and is ten times faster than Node's for a thousand small files.
    await run("cp", ["-Rp", pristine, cluster]);
    return;
  }
  const options = [
    "-U",
    "postgres",
    "-A",
    "trust",
    "-E",
    "UTF8",
    "--locale=C.UTF-8",
    "--no-sync",
    "--no-instructions",
  ];
  const { command, args } = launch.command("initdb", ["-D", cluster, ...options]);
  const as = launch.uid === undefined ? {} : { uid: launch.uid, gid: launch.gid ?? launch.uid };
  await run(command, args, {
    cwd: "/",
    env: { PATH: systemPath, LC_ALL: "C.UTF-8" },
    timeout: PATIENCE_MS,
    ...as,
  });
  const partial = `${pristine}.${process.pid}`;
  await mkdir(cacheDir, { recursive: true });
  await run("cp", ["-Rp", cluster, partial]);
  // If two first starts run concurrently, one rename wins; both copies are identical.
  await rename(partial, pristine).catch(async () => await rm(partial, { recursive: true, force: true }));
}

/**
 * Removes the lock file of a killed server, unless a Postgres on this folder still runs. If another program
 * had the process id in the lock file, Postgres would refuse to start.
 */
async function clearStaleLock(cluster: string): Promise<void> {
  const lockFile = join(cluster, "postmaster.pid");
  const lock = await readFile(lockFile, "utf8").catch(() => undefined);
  if (lock === undefined) return;
  const pid = Number(lock.split("\n")[0]);
  const commandLine = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  if (commandLine.includes(cluster)) {
    throw new DataDirInUse(`a Postgres (process ${pid}) is already running on ${cluster}`);
  }
  await rm(lockFile, { force: true });
}
