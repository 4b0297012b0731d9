import { setTimeout as sleep } from "node:timers/promises";
import type { Chaos } from "./load.ts";
import { percentilesOf } from "./percentiles.ts";
import { seededRandom } from "./random.ts";
import { runRequest, type RequestRun } from "./run-request.ts";
import {
  breakLeader,
  LEADER_FAULTS,
  TAKEOVER_BOUND_MS,
  type LeaderFault,
  type WorkerCables,
} from "./takeovers.ts";
import type { World } from "./world.ts";

/** Half of the requests start before the leader breaks, half right after. */
export const REQUESTS_PER_TAKEOVER = 4;
const OUTCOME_WITHIN_MS = 120_000;

/**
 * Breaks the worker that leads a chain repeatedly, each time with a different fault, while requests are in
 * progress.
 */
export async function runTakeovers(
  world: World,
  runs: readonly RequestRun[],
  {
    takeovers,
    cables,
    signal,
    say,
  }: {
    readonly takeovers: number;
    readonly cables: WorkerCables;
    readonly signal: AbortSignal;
    readonly say: (text: string) => void;
  },
): Promise<Chaos> {
  const random = seededRandom(world.seed + 4);
  const problems: string[] = [];
  const tookMs = new Map<LeaderFault, number[]>(LEADER_FAULTS.map((fault) => [fault, []]));
  for (let round = 0; round < takeovers && !signal.aborted; round++) {
    const roundRuns = runs.slice(round * REQUESTS_PER_TAKEOVER, (round + 1) * REQUESTS_PER_TAKEOVER);
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(OUTCOME_WITHIN_MS)]);
    const begin = (run: RequestRun): Promise<void> => runRequest(world, run, deadline);
    const before = roundRuns.slice(0, REQUESTS_PER_TAKEOVER / 2).map(begin);
    await sleep(random.int(100, 3_000));
    const fault = LEADER_FAULTS[round % LEADER_FAULTS.length] ?? "SIGKILL";
    const breaking = breakLeader(world.system.workers, cables, {
      chain: random.pick(world.chains).chain.name,
      fault,
    });
    const after = roundRuns.slice(REQUESTS_PER_TAKEOVER / 2).map(begin);
    const takeover = await breaking;
    tookMs.get(fault)?.push(takeover.tookMs);
    const text = `${takeover.worker}: ${fault}, another worker led after ${Math.round(takeover.tookMs)} ms`;
    say(`${text} (${round + 1} of ${takeovers})`);
    if (takeover.tookMs > TAKEOVER_BOUND_MS) problems.push(text);
    await takeover.heal();
    await Promise.all([...before, ...after]);
  }
  const remarks = [...tookMs].flatMap(([fault, times]) => {
    const percentiles = percentilesOf(times);
    if (percentiles === undefined) return [];
    const maxMs = Math.round(Math.max(...times));
    return [
      `${fault}: ${times.length} takeovers, median ${Math.round(percentiles.p50)} ms, maximum ${maxMs} ms`,
    ];
  });
  return { remarks, problems };
}
