import { startOn } from "./free-port.ts";
import { join } from "node:path";
import { compiledCodeDir, repositoryRoot, workspaceNode } from "./paths.ts";
import {
  readLogTail,
  startProcess,
  type ProcessExit,
  type ProcessSpec,
  type RunningProcess,
} from "./process.ts";

/** A process of a running system that can be killed and restarted. */
export interface SystemProcess {
  readonly name: string;
  /** Base URL of its HTTP server. */
  readonly url: string;
  readonly logFile: string;
  /** Changes with every restart. */
  readonly pid: number;
  isRunning(): boolean;
  /** Sends a signal. An exit after that is not reported as unexpected. */
  kill(signal: NodeJS.Signals): void;
  /** Stops the process if it runs, starts it again and returns once it is ready. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** A process ended without being stopped. */
export interface UnexpectedExit {
  readonly name: string;
  readonly exit: ProcessExit;
  readonly logFile: string;
  readonly logTail: string;
}

export interface AppProcessOptions {
  readonly name: string;
  /** Path from the root of the repository. */
  readonly entry: string;
  readonly url: string;
  /** Path that returns 200 once the process is ready. Default: `/health/ready`. */
  readonly readyPath?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
  readonly onUnexpectedExit: (facts: UnexpectedExit) => void;
  readonly signal?: AbortSignal;
}

/**
 * The command line of an app, run from its sources, and the environment that makes it start fast.
 */
export function programCommand(entry: string): {
  command: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
} {
  // The same young generation size as in the images' entry points.
  const args = [
    "--min-semi-space-size=16",
    "--max-semi-space-size=64",
    "-C",
    "source",
    join(repositoryRoot, entry),
  ];
  const env = { NODE_COMPILE_CACHE: compiledCodeDir };
  return { command: workspaceNode, args, cwd: repositoryRoot, env };
}

/**
 * Starts an API, worker or oracle process and returns once it is ready.
 *
 * @throws PortInUse, ProcessStartFailed
 */
export async function startAppProcess(options: AppProcessOptions): Promise<SystemProcess> {
  const { readyPath = "/health/ready" } = options;
  const program = programCommand(options.entry);
  const spec: ProcessSpec = {
    ...program,
    name: options.name,
    env: { ...program.env, ...options.env },
    logFile: options.logFile,
    isReady: async (signal) => (await fetch(`${options.url}${readyPath}`, { signal })).status === 200,
    pollIntervalMs: 25,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  };
  let isStopping = false;
  const start = async (): Promise<RunningProcess> => {
    isStopping = false;
    const started = await startOn(Number(new URL(options.url).port), async () => await startProcess(spec));
    void started.exited.then(async (exit) => {
      if (isStopping) return;
      const logTail = await readLogTail(options.logFile);
      options.onUnexpectedExit({ name: options.name, exit, logFile: options.logFile, logTail });
    });
    return started;
  };
  let current = await start();
  return {
    name: options.name,
    url: options.url,
    logFile: options.logFile,
    get pid() {
      return current.pid;
    },
    isRunning: () => current.isRunning(),
    kill: (signal) => {
      isStopping = true;
      current.kill(signal);
    },
    restart: async () => {
      isStopping = true;
      await current.stop();
      current = await start();
    },
    stop: async () => {
      isStopping = true;
      await current.stop();
    },
  };
}
