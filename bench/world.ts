import type { Chain } from "@causeway/domain";
import {
  freePort,
  repositoryRoot,
  startProcess,
  stopTogether,
  workspaceNode,
  type Stoppable,
} from "@causeway/testkit";
import { nodeEnvironment, portsFrom, startSystem, type System } from "@causeway/localnet";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BareAnswers } from "./bare-answers.ts";
import { pin, type Cores } from "./cores.ts";
import { startCountingProxy } from "./counting-proxy.ts";
import { startLoadTool, type LoadTool } from "./load-process.ts";

/** The URL and the process of a server under test. */
export interface Target {
  readonly url: string;
  readonly pid: number;
}

/** Everything that a run measures, and its tools. */
export interface World extends Stoppable {
  readonly databaseUrl: string;
  readonly chains: readonly [Chain, Chain];
  readonly api: Target;
  readonly tool: LoadTool;
  /** JSON-RPC calls and HTTP requests that the API and worker have made to both nodes so far. */
  chainCalls(): { readonly calls: number; readonly httpRequests: number };
  /** Runs `act` while no worker reads from the nodes. */
  withoutWorker<T>(act: () => Promise<T>): Promise<T>;
  /** Starts the server to compare with. */
  startBare(answers: BareAnswers): Promise<Target>;
}

export interface WorldOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly portBase: number;
  /** Undefined: nothing is pinned. */
  readonly cores: Cores | undefined;
  readonly onProgress: (text: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Starts the local system with one API process alone on its core, and everything else, including this
 * process, on the other.
 */
export async function startWorld(options: WorldOptions): Promise<World> {
  const { cores, portBase, signal, onProgress } = options;
  // Before any child process starts, because child processes inherit the core.
  if (cores !== undefined) pin(process.pid, cores.others);
  const pinServer = (pid: number): void => {
    if (cores !== undefined) pin(pid, cores.server);
  };
  const nodes = portsFrom(portBase);
  const toStop: Stoppable[] = [];
  try {
    const proxies = [await startCountingProxy(nodes.nodeA), await startCountingProxy(nodes.nodeB)] as const;
    toStop.push(...proxies);
    const system = await startSystem({
      env: options.env,
      portBase,
      // Attestations are not measured.
      oracles: 0,
      appEnv: nodeEnvironment({ portA: proxies[0].port, portB: proxies[1].port }),
      onProgress,
      onUnexpectedExit: ({ name, logTail }) => onProgress(`${name} exited unexpectedly\n${logTail}`),
      signal,
    });
    toStop.push(system);
    const [api, worker] = [onlyOne(system.apis), onlyOne(system.workers)];
    pinServer(api.pid);
    const tool = startLoadTool(signal);
    toStop.push(tool);
    return {
      databaseUrl: system.databaseUrl,
      chains: twoChains(system),
      api,
      tool,
      chainCalls: () => ({
        calls: proxies[0].counted.calls + proxies[1].counted.calls,
        httpRequests: proxies[0].counted.httpRequests + proxies[1].counted.httpRequests,
      }),
      withoutWorker: async (act) => {
        await worker.stop();
        try {
          return await act();
        } finally {
          if (!signal.aborted) await worker.restart();
        }
      },
      startBare: async (answers) => {
        const bare = await startBareServer(answers, system.folder, signal);
        toStop.push(bare);
        pinServer(bare.pid);
        return bare;
      },
      stop: async () => await stopTogether(toStop),
    };
  } catch (error) {
    await stopTogether(toStop);
    throw error;
  }
}

async function startBareServer(
  answers: BareAnswers,
  folder: string,
  signal: AbortSignal,
): Promise<Target & Stoppable> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const answersFile = join(folder, "bare-answers.json");
  await writeFile(answersFile, JSON.stringify(answers));
  const server = fileURLToPath(new URL("./bare-server.ts", import.meta.url));
  const running = await startProcess({
    name: "bare server",
    command: workspaceNode,
    args: ["-C", "source", server, String(port), answersFile],
    env: {},
    cwd: repositoryRoot,
    logFile: join(folder, "logs", "bare-server.log"),
    isReady: async (deadline) =>
      (await fetch(`${url}/intents/status/v3`, { signal: deadline })).status === 200,
    signal,
  });
  return { url, pid: running.pid, stop: async () => await running.stop() };
}

function onlyOne<T>(list: readonly T[]): T {
  const [first] = list;
  if (first === undefined || list.length !== 1) throw new Error(`${list.length} processes, expected one`);
  return first;
}

function twoChains({ chains }: System): [Chain, Chain] {
  const [first, second] = chains;
  if (first === undefined || second === undefined)
    throw new Error("the local system has fewer than two chains");
  return [first, second];
}
