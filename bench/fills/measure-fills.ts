import { loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { openDatabase, type SoakDatabase } from "../../scripts/soak/database.ts";
import { pin, type Cores } from "../cores.ts";
import type { BenchOptions } from "../options.ts";
import { costPerFill, costPerSecond, meanCost, type Cost, type Readings } from "./cost-per-fill.ts";
import {
  depositAlone,
  depositInOneBlock,
  depositSteadily,
  signDeposits,
  type SignedDeposit,
} from "./deposits.ts";
import { fillSpeed, type FillSpeed } from "./fill-speed.ts";
import { startFillsWorld, type FillsWorld } from "./fills-world.ts";
import { COUNTED_WITHIN_MS } from "./meters.ts";

export interface PhaseFigures {
  readonly speed: FillSpeed;
  readonly costPerFill: Cost;
}

export interface FillFigures {
  readonly burst: PhaseFigures;
  readonly alone: PhaseFigures;
  readonly steady: PhaseFigures & { readonly perSecond: number };
  /** Per second without fills, before and after them; costs per fill exclude their mean. */
  readonly idle: { readonly before: Cost; readonly after: Cost };
  /** The load average of the machine in the last minute before the run. */
  readonly loadBefore: number;
}

const PER_SECOND = 20;
const WARM_UP = { burst: 100, alone: 3 };
const FINAL_WITHIN_MS = 120_000;
const POLL_INTERVAL_MS = 1_000;

/**
 * Measures deposits on one chain, all filled from one lane of the other: many in one block, then one at a
 * time, then at a steady rate. Starts its own system, and stops it.
 */
export async function measureFills(
  cores: Cores | undefined,
  options: BenchOptions,
  env: Readonly<Record<string, string | undefined>>,
  onProgress: (text: string) => void,
  signal: AbortSignal,
): Promise<FillFigures> {
  const [loadBefore = Number.NaN] = loadavg();
  // Undoes the pinning of earlier benchmarks: here, all processes share the cores.
  if (cores !== undefined) pin(process.pid, cores.server, cores.others);
  const world = await startFillsWorld({ env, portBase: options.portBase, onProgress, signal });
  try {
    const database = await openDatabase(world.system.databaseUrl);
    try {
      return { ...(await measure(world, database, options, onProgress, signal)), loadBefore };
    } finally {
      await database.close();
    }
  } finally {
    await world.stop();
  }
}

async function measure(
  world: FillsWorld,
  database: SoakDatabase,
  { burstFills, loneFills, steadySeconds, idleSeconds }: BenchOptions,
  onProgress: (text: string) => void,
  signal: AbortSignal,
): Promise<Omit<FillFigures, "loadBefore">> {
  const { unsettled, withoutOwnQueries } = countOwnQueries(database);
  const counts = [WARM_UP.burst, WARM_UP.alone, burstFills, loneFills, steadySeconds * PER_SECOND];
  const total = counts.reduce((sum, count) => sum + count, 0);
  onProgress(`quoting and signing ${total} deposits`);
  const deposits = await signDeposits(world, total, signal);
  const take = (count: number): SignedDeposit[] => deposits.splice(0, count);

  onProgress("warming up");
  const warmUps = [take(WARM_UP.burst), take(WARM_UP.alone)] as const;
  await depositInOneBlock(world, warmUps[0]);
  await depositAlone(world, warmUps[1], signal);
  await untilFinal(unsettled, warmUps.flat(), signal);
  await sleep(COUNTED_WITHIN_MS, undefined, { signal });

  const measureUse = async (
    act: () => Promise<void>,
  ): Promise<{ readonly before: Readings; readonly after: Readings }> => {
    // The counters are up to date: the previous step ended with a pause of COUNTED_WITHIN_MS.
    const before = {
      ...world.meters.readProcesses(),
      ...withoutOwnQueries(await world.meters.readDatabase()),
    };
    await act();
    const processes = world.meters.readProcesses();
    await sleep(COUNTED_WITHIN_MS, undefined, { signal });
    return { before, after: { ...processes, ...withoutOwnQueries(await world.meters.readDatabase()) } };
  };
  const measureIdle = async (): Promise<Cost> => {
    onProgress(`measuring the idle system for ${idleSeconds} s`);
    const { before, after } = await measureUse(
      async () => await sleep(idleSeconds * 1_000, undefined, { signal }),
    );
    return costPerSecond(before, after);
  };
  const phase = async (
    count: number,
    act: (phaseDeposits: readonly SignedDeposit[]) => Promise<void>,
  ): Promise<MeasuredPhase> => {
    const phaseDeposits = take(count);
    const use = await measureUse(async () => {
      await act(phaseDeposits);
      await untilFinal(unsettled, phaseDeposits, signal);
    });
    return { ...use, requestIds: phaseDeposits.map(({ requestId }) => requestId) };
  };
  const idleBefore = await measureIdle();
  onProgress(`measuring ${burstFills} deposits in one block`);
  const burst = await phase(
    burstFills,
    async (phaseDeposits) => await depositInOneBlock(world, phaseDeposits),
  );
  onProgress(`measuring ${loneFills} deposits, one at a time`);
  const alone = await phase(
    loneFills,
    async (phaseDeposits) => await depositAlone(world, phaseDeposits, signal),
  );
  onProgress(`measuring ${PER_SECOND} deposits per second for ${steadySeconds} s`);
  const steady = await phase(
    steadySeconds * PER_SECOND,
    async (phaseDeposits) => await depositSteadily(world, phaseDeposits, PER_SECOND, signal),
  );
  const idle = { before: idleBefore, after: await measureIdle() };
  const idlePerSecond = meanCost(idle.before, idle.after);

  const timings = await database.fillTimings();
  const figures = ({ requestIds, before, after }: MeasuredPhase): PhaseFigures => ({
    speed: fillSpeed(requestIds, timings),
    costPerFill: costPerFill(before, after, idlePerSecond, requestIds.length),
  });
  return {
    burst: figures(burst),
    alone: figures(alone),
    steady: { ...figures(steady), perSecond: PER_SECOND },
    idle,
  };
}

interface MeasuredPhase {
  readonly requestIds: readonly string[];
  readonly before: Readings;
  readonly after: Readings;
}

type DatabaseReadings = Pick<Readings, "commits" | "statements">;

/** The bench's own queries in the metered database, which are removed from the counters. */
function countOwnQueries(database: SoakDatabase): {
  readonly unsettled: SoakDatabase["unsettled"];
  withoutOwnQueries(counted: DatabaseReadings): DatabaseReadings;
} {
  let queries = 0;
  return {
    unsettled: async (ids) => {
      queries++;
      return await database.unsettled(ids);
    },
    // Each is one statement and one commit.
    withoutOwnQueries: ({ commits, statements }) => ({
      commits: { ...commits, total: commits.total - queries },
      statements: { ...statements, total: statements.total - queries },
    }),
  };
}

/** @throws if one of them is not final in time */
async function untilFinal(
  unsettled: SoakDatabase["unsettled"],
  deposits: readonly SignedDeposit[],
  signal: AbortSignal,
): Promise<void> {
  const ids = deposits.map(({ requestId }) => requestId);
  const endsAtMs = performance.now() + FINAL_WITHIN_MS;
  for (;;) {
    const states = await unsettled(ids);
    if (states.size === 0) return;
    if (performance.now() > endsAtMs) {
      const remaining = [...states].map(([state, count]) => `${count} ${state}`).join(", ");
      throw new Error(`requests are not final after ${FINAL_WITHIN_MS / 1_000} s: ${remaining}`);
    }
    await sleep(POLL_INTERVAL_MS, undefined, { signal });
  }
}
