import { setTimeout as sleep } from "node:timers/promises";
import type { SystemOptions } from "@causeway/localnet";
import type { SystemProcess } from "@causeway/testkit";
import { startSwallowingProxy, type SwallowingProxy } from "./swallowing-proxy.ts";

/** The fault of the leading worker. */
export const LEADER_FAULTS = ["SIGKILL", "SIGSTOP", "cut network"] as const;
export type LeaderFault = (typeof LEADER_FAULTS)[number];

/** Another worker must lead everything that the broken one led within this time. */
export const TAKEOVER_BOUND_MS = 5_000;
const POLL_INTERVAL_MS = 50;
const READY_WITHIN_MS = 60_000;

/** The cables between workers and Postgres, by worker number. */
export interface WorkerCables {
  readonly workerEnv: NonNullable<SystemOptions["workerEnv"]>;
  of(worker: number): SwallowingProxy;
  close(): Promise<void>;
}

/** Gives every worker its own cable to Postgres. */
export function workerCables(): WorkerCables {
  const cables = new Map<number, SwallowingProxy>();
  return {
    async workerEnv(worker, { DATABASE_URL = "" }) {
      const url = new URL(DATABASE_URL);
      const cable = await startSwallowingProxy({ host: url.hostname, port: Number(url.port) });
      cables.set(worker, cable);
      url.port = String(cable.port);
      return { DATABASE_URL: url.href };
    },
    of(worker) {
      const cable = cables.get(worker);
      if (cable === undefined) throw new RangeError(`worker ${worker} has no network link`);
      return cable;
    },
    async close() {
      await Promise.all([...cables.values()].map(async (cable) => await cable.close()));
    },
  };
}

/** A worker that was broken, and how long it took until others led what it had led. */
export interface Takeover {
  readonly fault: LeaderFault;
  readonly worker: string;
  readonly tookMs: number;
  /** Resumes or restarts the worker; returns once all workers are ready. */
  heal(): Promise<void>;
}

/**
 * Breaks the worker that leads `chain`, and waits until others lead everything that it led.
 *
 * @throws if they do not within a minute
 */
export async function breakLeader(
  workers: readonly SystemProcess[],
  cables: WorkerCables,
  { chain, fault }: { readonly chain: string; readonly fault: LeaderFault },
): Promise<Takeover> {
  const found = await leaderOf(chain, workers);
  const { worker, at, led } = found;
  const cable = cables.of(at);
  const startedAtMs = performance.now();
  if (fault === "cut network") cable.cut();
  else worker.kill(fault);
  const others = workers.filter((candidate) => candidate !== worker);
  const tookMs = async (): Promise<number> => {
    for (;;) {
      const newlyLed = new Set((await Promise.all(others.map(chainsLedBy))).flat());
      const elapsedMs = performance.now() - startedAtMs;
      if (led.every((chainName) => newlyLed.has(chainName))) return elapsedMs;
      if (elapsedMs > READY_WITHIN_MS)
        throw new Error(`no worker took over from ${worker.name} after ${fault}`);
      await sleep(POLL_INTERVAL_MS);
    }
  };
  return {
    fault,
    worker: worker.name,
    tookMs: await tookMs(),
    async heal() {
      if (fault === "SIGKILL") await worker.restart();
      if (fault === "SIGSTOP") worker.kill("SIGCONT");
      if (fault === "cut network") cable.heal();
      await Promise.all(workers.map(untilReady));
    },
  };
}

async function leaderOf(
  chain: string,
  workers: readonly SystemProcess[],
): Promise<{ worker: SystemProcess; at: number; led: readonly string[] }> {
  const untilMs = performance.now() + READY_WITHIN_MS;
  while (performance.now() < untilMs) {
    for (const [index, worker] of workers.entries()) {
      const led = await chainsLedBy(worker);
      if (led.includes(chain)) return { worker, at: index, led };
    }
    await sleep(POLL_INTERVAL_MS);
  }
  throw new Error(`no worker leads ${chain}`);
}

/** Names of the chains that a worker reports to lead; none while it does not answer. */
async function chainsLedBy({ url }: SystemProcess): Promise<string[]> {
  try {
    const answer = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(2_000) });
    return (await answer.text()).split("\n").flatMap((line) => {
      const [, chain] = /^causeway_chain_leader\{.*?chain="([^"]+)".*\} 1$/.exec(line) ?? [];
      return chain ?? [];
    });
  } catch {
    return [];
  }
}

async function untilReady({ url, name }: SystemProcess): Promise<void> {
  const untilMs = performance.now() + READY_WITHIN_MS;
  while (performance.now() < untilMs) {
    const signal = AbortSignal.timeout(3_000);
    const isReady = await fetch(`${url}/health/ready`, { signal }).then(
      ({ status }) => status === 200,
      () => false,
    );
    if (isReady) return;
    await sleep(POLL_INTERVAL_MS);
  }
  throw new Error(`${name} is not ready a minute after its recovery`);
}
