// `npm run soak`: runs many bridges through a local system, then accounts for every unit of money and every
// nonce.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startSystem, type System } from "@causeway/localnet";
import { programOptions } from "./program-options.ts";
import { openDatabase } from "./soak/database.ts";
import { planLane, runLane } from "./soak/lane.ts";
import { readAlarms } from "./soak/log-events.ts";
import { NO_CHAOS, runLoad, type Chaos } from "./soak/load.ts";
import { planMix, type RequestPlan, type SoakCurrency } from "./soak/mix.ts";
import { readOptions, usage, type SoakOptions } from "./soak/options.ts";
import { seededRandom } from "./soak/random.ts";
import {
  busiestLanes,
  measuresOf,
  exceededLimits,
  printResult,
  writeResult,
  type SoakResult,
} from "./soak/report.ts";
import { cpuRemark, readCpuUsage } from "./soak/cpu-usage.ts";
import { newRun, runRequest, type RequestRun } from "./soak/run-request.ts";
import { soakRoutes } from "./soak/routes.ts";
import { createSoakApi } from "./soak/soak-api.ts";
import { REQUESTS_PER_TAKEOVER, runTakeovers } from "./soak/run-takeovers.ts";
import { workerCables, type WorkerCables } from "./soak/takeovers.ts";
import { verify } from "./soak/verify.ts";
import { watchRules } from "./soak/watch-rules.ts";
import { openChain, readCurrencies, usersOfSeed, type World } from "./soak/world.ts";

/** All requests of a load are started within this time. */
const SPREAD_MS = 20_000;
/** Maximum duration after the start of the last request. */
const BOUND_MS = { plain: 120_000, chaos: 240_000 };
const SETTLE_MS = 45_000;
const SLOW_BLOCK_SECONDS = 3;
/** Far above any load: waiting for the next minute's limit would measure the limit. */
const PRICE_EXPOSURE_USD_PER_MINUTE = "1000000000";
/** The API has metrics only with a token. */
const METRICS_TOKEN = "soak".padEnd(32, "-");
/** Each user runs one route at a time. */
const ROUTE_USERS = 48;

/** Modes whose users the system funds; the others create their own users. */
const usersOf = { takeovers: 1, load: 1, onceLatency: 1, lane: 1, routes: ROUTE_USERS, families: 6 } as const;

const startedAtMs = performance.now();
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const say = (text: string): void =>
  print(`[${((performance.now() - startedAtMs) / 1_000).toFixed(1).padStart(6)} s] ${text}`);

const stopRequested = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.on(signal, () => stopRequested.abort(signal));
// Only if another Node started this one with a channel: the parent died without forwarding a signal.
process.on("disconnect", () => stopRequested.abort("disconnect"));
process.channel?.unref();

process.exitCode = await run();
// Does not wait for remaining connections, which are idle ones to the nodes.
process.exit();

async function run(): Promise<number> {
  const randomSeed = Math.floor(Math.random() * 1_000_000) + 1;
  const options = programOptions(usage, (args) => readOptions(args, randomSeed));
  const accidents: string[] = [];
  let system: System | undefined;
  const cables = options.mode === "takeovers" ? workerCables() : undefined;
  try {
    system = await boot(options, accidents, cables);
    const result = await runMode(system, { ...options, cables }, accidents);
    printResult(result, print);
    if (options.jsonFile !== undefined) await writeResult(options.jsonFile, result);
    if (options.keep && !stopRequested.signal.aborted) {
      print(`The system keeps running until Ctrl-C; Postgres is ${system.databaseUrl}.`);
      await sleep(2 ** 31 - 1, undefined, { signal: stopRequested.signal }).catch(() => undefined);
    }
    return result.problems.length === 0 ? 0 : 1;
  } catch (error) {
    if (stopRequested.signal.aborted) return 130;
    print(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return 1;
  } finally {
    if (system !== undefined) {
      await system.stop();
      await cables?.close();
      say(`stopped; logs are in ${system.folder}/logs`);
    }
  }
}

/** The chosen options, and the cables that takeovers need. */
type ModeOptions = SoakOptions & { readonly cables: WorkerCables | undefined };

async function runMode(system: System, options: ModeOptions, accidents: string[]): Promise<SoakResult> {
  if (options.mode === "routes") return await soakRoutes(system, options.seed, accidents, print);
  if (options.mode !== "families") return await soak(system, options, accidents);
  // Its dependencies are loaded only here.
  const { soakFamilies } = await import("./soak/families.ts");
  const { seed, requests, chaos } = options;
  const kills = chaos ? options.kills : 0;
  return await soakFamilies(system, { seed, requests, kills, signal: stopRequested.signal, say }, accidents);
}

async function boot(
  options: SoakOptions,
  accidents: string[],
  cables: WorkerCables | undefined,
): Promise<System> {
  say(`starting a system from port ${options.portBase}, seed ${options.seed}`);
  return await startSystem({
    env: process.env,
    portBase: options.portBase,
    apis: options.chaos ? 2 : 1,
    workers: options.chaos || cables !== undefined ? 2 : 1,
    ...(cables !== undefined && { workerEnv: cables.workerEnv }),
    appEnv: { PRICE_EXPOSURE_USD_PER_MINUTE, ...(options.watched && { METRICS_TOKEN }) },
    oracles: options.mode === "families" || options.watched ? 3 : 0,
    families: options.mode === "families",
    users: usersOf[options.mode],
    blockTimeSeconds: options.mode === "lane" ? SLOW_BLOCK_SECONDS : 1,
    onProgress: say,
    onUnexpectedExit: ({ name, exit, logTail }) => {
      say(`${name} exited unexpectedly`);
      accidents.push(
        `${name} exited unexpectedly (${exit.signal ?? `exit code ${exit.code}`}): ${logTail.slice(-500)}`,
      );
    },
    signal: stopRequested.signal,
  });
}

async function soak(system: System, options: ModeOptions, accidents: string[]): Promise<SoakResult> {
  const [chainA, chainB] = system.chains;
  if (chainA === undefined || chainB === undefined)
    throw new RangeError("invariant violated: a soak needs two chains");
  const plans = planRun(options, await readCurrencies(chainA));
  const users = usersOfSeed(options.seed, Math.max(...plans.map(({ user }) => user)) + 1);
  const chains = await Promise.all([
    openChain(system, chainA, users, options.chaos),
    openChain(system, chainB, users, options.chaos),
  ]);
  const api = createSoakApi({
    urls: system.endpoints.apiUrls,
    random: seededRandom(options.seed + 3),
    retryForMs: options.chaos || options.cables !== undefined ? 30_000 : 0,
  });
  const world: World = { system, chains, users, api, seed: options.seed };
  const runs = plans.map((plan) => newRun(world, plan));
  const database = await openDatabase(system.databaseUrl);
  try {
    say(`${users.length} users funded; starting ${runs.length} requests`);
    const watch = options.watched ? watchRules(system, METRICS_TOKEN) : undefined;
    const readUse = async () => readCpuUsage(system, await database.backendPid());
    const before = await readUse();
    const chaos = await runMix(world, runs, options);
    // An incomplete run proves nothing.
    stopRequested.signal.throwIfAborted();
    say("waiting until all requests are final");
    const verdict = await verify(world, runs, database, SETTLE_MS);
    const after = await readUse();
    const alerts = await watch?.stop(stopRequested.signal);
    // A killed process loses its metrics.
    const hasAllMetrics = !options.chaos && options.cables === undefined;
    const measures = measuresOf(runs, verdict);
    const busiest = busiestLanes(verdict);
    const resent = chains.reduce((sum, { kept }) => sum + kept.resent, 0);
    const retries = [...api.retries].map(([cause, times]) => `calls retried after ${cause}: ${times}`);
    return {
      seed: options.seed,
      requests: runs.length,
      succeeded: runs.filter(({ last }) => last?.status === "success").length,
      measures,
      remarks: [
        ...chaos.remarks,
        ...(hasAllMetrics ? [cpuRemark(before, after, runs.length)] : []),
        ...(alerts?.remarks ?? []),
        ...(resent > 0 ? [`${resent} dropped user transactions were rebroadcast`] : []),
        ...retries,
        ...verdict.remarks,
        ...[...busiest].map(
          ([chainId, max]) => `chain ${chainId}: up to ${max} fills were in flight at once on the lane`,
        ),
        ...(await readAlarms(join(system.folder, "logs"))),
      ],
      problems: [
        ...accidents,
        ...chaos.problems,
        ...(alerts?.problems ?? []),
        ...verdict.problems,
        ...exceededLimits(options.mode, runs.length, measures, busiest),
      ],
    };
  } finally {
    await Promise.all(chains.map(async ({ kept }) => await kept.close()));
    await database.close();
  }
}

function planRun(
  { mode, requests, takeovers, seed }: SoakOptions,
  currencies: readonly SoakCurrency[],
): RequestPlan[] {
  const [native] = currencies;
  if (mode === "lane" && native !== undefined) return planLane(requests, native);
  const spreadMs = mode === "load" ? SPREAD_MS : 0;
  const count = mode === "takeovers" ? takeovers * REQUESTS_PER_TAKEOVER : requests;
  const plans = planMix({ requests: count, seed, spreadMs, currencies });
  // Only fills of simultaneous requests show how fast a fill is.
  return mode === "onceLatency" || mode === "takeovers"
    ? plans.map((plan) => ({ ...plan, amount: smallest(plan) }))
    : plans;
}

/** About 20 USD: the smallest confirmation tier. */
function smallest({ tradeType, pay, receive }: RequestPlan): bigint {
  const { decimals, usdCents } = tradeType === "EXACT_INPUT" ? pay : receive;
  return (2_000n * 10n ** BigInt(decimals)) / usdCents;
}

async function runMix(world: World, runs: readonly RequestRun[], options: ModeOptions): Promise<Chaos> {
  const { signal } = stopRequested;
  if (options.cables !== undefined)
    return await runTakeovers(world, runs, { ...options, cables: options.cables, signal, say });
  const boundMs = options.chaos ? BOUND_MS.chaos : BOUND_MS.plain;
  if (options.mode === "load")
    return await runLoad(world, runs, {
      spreadMs: SPREAD_MS,
      withinMs: boundMs,
      chaos: options.chaos ? options : undefined,
      signal,
      say,
    });
  if (options.mode === "lane") {
    await runLane(world, runs, AbortSignal.any([signal, AbortSignal.timeout(boundMs)]));
    return NO_CHAOS;
  }
  for (const run of runs) {
    if (signal.aborted) break;
    await runRequest(world, run, AbortSignal.any([signal, AbortSignal.timeout(30_000)]));
    const { plan, last, error } = run;
    say(
      `request ${plan.index} (${plan.kind} ${plan.pay.symbol} to ${plan.receive.symbol}): ${error ?? last?.status}`,
    );
  }
  return NO_CHAOS;
}
