import type { Chain } from "@causeway/domain";
import { nodeEnvironment, portsFrom, startSystem, type System } from "@causeway/localnet";
import { stopTogether, type Stoppable, type SystemProcess } from "@causeway/testkit";
import { startCountingProxy } from "../counting-proxy.ts";
import { openMeters, type Meters } from "./meters.ts";

/** A local system whose CPU, database and node usage is metered. */
export interface FillsWorld extends Stoppable {
  readonly system: System;
  readonly origin: Chain;
  readonly destination: Chain;
  readonly apiUrl: string;
  readonly meters: Meters;
}

export interface FillsWorldOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly portBase: number;
  readonly onProgress: (text: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Starts the system with its own Postgres, regardless of DATABASE_URL: statements are counted by an extension
 * that must be loaded when the server starts.
 */
export async function startFillsWorld({
  env,
  portBase,
  onProgress,
  signal,
}: FillsWorldOptions): Promise<FillsWorld> {
  const nodes = portsFrom(portBase);
  const toStop: Stoppable[] = [];
  try {
    const proxies = [await startCountingProxy(nodes.nodeA), await startCountingProxy(nodes.nodeB)] as const;
    toStop.push(...proxies);
    const system = await startSystem({
      env: { ...env, DATABASE_URL: undefined },
      portBase,
      // Attesting is not part of a fill.
      oracles: 0,
      users: 1,
      postgresSettings: ["shared_preload_libraries=pg_stat_statements"],
      appEnv: nodeEnvironment({ portA: proxies[0].port, portB: proxies[1].port }),
      onProgress,
      onUnexpectedExit: ({ name, logTail }) => onProgress(`${name} exited unexpectedly\n${logTail}`),
      signal,
    });
    toStop.push(system);
    const [origin, destination] = system.chains;
    if (origin === undefined || destination === undefined)
      throw new Error("the local system has fewer than two chains");
    const [api, worker] = [onlyOne(system.apis), onlyOne(system.workers)];
    const meters = await openMeters({
      databaseUrl: system.databaseUrl,
      apiPid: api.pid,
      workerPid: worker.pid,
      nodes: proxies,
    });
    return {
      system,
      origin,
      destination,
      apiUrl: api.url,
      meters,
      stop: async () => {
        await meters.close();
        await stopTogether(toStop);
      },
    };
  } catch (error) {
    await stopTogether(toStop);
    throw error;
  }
}

function onlyOne(processes: readonly SystemProcess[]): SystemProcess {
  const [first] = processes;
  if (first === undefined || processes.length !== 1)
    throw new Error(`${processes.length} processes, expected one`);
  return first;
}
