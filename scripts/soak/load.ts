import { setTimeout as sleep } from "node:timers/promises";
import { seededRandom } from "./random.ts";
import { reorganize } from "./reorgs.ts";
import { runRequest, type RequestRun } from "./run-request.ts";
import { killWorkers } from "./worker-kills.ts";
import type { World } from "./world.ts";

export interface LoadOptions {
  readonly spreadMs: number;
  /** Every request must have its outcome by then. */
  readonly withinMs: number;
  /** The fault to inject during the load; undefined: none. */
  readonly chaos: { readonly kills: number; readonly reorgs: number } | undefined;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
}

/** The faults of a run, and a problem if it caused fewer than requested. */
export interface Chaos {
  readonly remarks: readonly string[];
  readonly problems: readonly string[];
}

export const NO_CHAOS: Chaos = { remarks: [], problems: [] };

/** Starts all requests, spread evenly, and returns once each has its outcome or the time is up. */
export async function runLoad(
  world: World,
  runs: readonly RequestRun[],
  options: LoadOptions,
): Promise<Chaos> {
  const { withinMs, chaos, signal, say } = options;
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
  const beat = setInterval(() => say(progressOf(runs)), 5_000);
  try {
    const faults =
      chaos === undefined ? Promise.resolve(NO_CHAOS) : injectFaults(world, chaos, options, deadline);
    await Promise.all(
      runs.map(async (run) => {
        await sleep(run.plan.startAfterMs, undefined, { signal }).catch(() => undefined);
        if (!signal.aborted) await runRequest(world, run, deadline);
      }),
    );
    say(progressOf(runs));
    return await faults;
  } finally {
    clearInterval(beat);
  }
}

async function injectFaults(
  world: World,
  chaos: { readonly kills: number; readonly reorgs: number },
  { spreadMs, say }: LoadOptions,
  signal: AbortSignal,
): Promise<Chaos> {
  const random = seededRandom(world.seed + 1);
  // Slightly longer than requests are started, so that the last ones are affected as well.
  const withinMs = spreadMs + 5_000;
  const chain = random.pick(world.chains);
  const [kills, reorgs] = await Promise.all([
    killWorkers({ workers: world.system.workers, times: chaos.kills, withinMs, random, signal, say }),
    reorganize({ chain, times: chaos.reorgs, withinMs, random: seededRandom(world.seed + 2), signal, say }),
  ]);
  return {
    remarks: [
      `${kills} workers killed`,
      `${chain.chain.name} reorged ${reorgs.depths.length} times (depths ${reorgs.depths.join(", ")}), ${reorgs.dropped} user transactions dropped`,
    ],
    problems: missedChaos(chaos, { kills, reorgs: reorgs.depths.length, dropped: reorgs.dropped }),
  };
}

/** A run with fewer faults than requested proves less than it claims. */
export function missedChaos(
  requested: { readonly kills: number; readonly reorgs: number },
  actual: { readonly kills: number; readonly reorgs: number; readonly dropped: number },
): string[] {
  return [
    ...(actual.kills < requested.kills
      ? [`only ${actual.kills} of ${requested.kills} worker kills happened`]
      : []),
    ...(actual.reorgs < requested.reorgs
      ? [`only ${actual.reorgs} of ${requested.reorgs} reorgs happened`]
      : []),
    ...(actual.reorgs > 0 && actual.dropped === 0 ? ["no reorg dropped a user transaction"] : []),
  ];
}

function progressOf(runs: readonly RequestRun[]): string {
  const counts = new Map<string, number>();
  for (const run of runs) {
    const stage =
      run.error !== undefined
        ? "failed"
        : (run.last?.status ?? (run.payment ? "paid" : run.quote ? "quoted" : "not started"));
    counts.set(stage, (counts.get(stage) ?? 0) + 1);
  }
  return [...counts].map(([stage, count]) => `${count} ${stage}`).join(", ");
}
