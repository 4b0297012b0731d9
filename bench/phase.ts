import { percentilesOf, type Percentiles } from "../scripts/soak/percentiles.ts";
import type { LoadRequest } from "./load-orders.ts";
import type { BenchOptions } from "./options.ts";
import { measurePairs, type PairRates } from "./rounds.ts";
import type { Target, World } from "./world.ts";

const CONNECTIONS = 64;

/** The requests, which are the same for both servers. */
export interface RequestSets {
  readonly quotes: readonly LoadRequest[];
  readonly statuses: readonly LoadRequest[];
}

/** All figures with this number of stored requests. */
export interface PhaseFigures {
  readonly storedRequests: number;
  /** One request at a time, in ms. */
  readonly singleMs: { readonly ours: Percentiles; readonly bare: Percentiles };
  /** Under load. */
  readonly quote: PairRates;
  readonly status: PairRates;
}

/**
 * Seconds of load until V8 has compiled the code of a route. In that time, the CPU time per quote drops to a
 * third, over 40,000 quotes; the bare server is fully compiled after a second.
 */
const COMPILE_SECONDS = { quotes: 15, statuses: 5 };

/** Loads the API until its code is compiled; once, before the first phase. */
export async function compileRoutes({ tool, api }: World, requestSets: RequestSets): Promise<void> {
  for (const route of ["quotes", "statuses"] as const)
    await tool.load({
      url: api.url,
      requests: requestSets[route],
      connections: CONNECTIONS,
      seconds: COMPILE_SECONDS[route],
    });
}

/** Warms both servers up, then alternates between them. */
export async function measurePhase(
  world: World,
  bare: Target,
  requestSets: RequestSets,
  options: BenchOptions,
  storedRequests: number,
): Promise<PhaseFigures> {
  const { tool, api } = world;
  for (const requests of [requestSets.quotes, requestSets.statuses])
    for (const { url } of [api, bare])
      await tool.load({ url, requests, connections: CONNECTIONS, seconds: options.warmUpSeconds });

  const pairOf = (requests: readonly LoadRequest[]) => ({
    ours: { target: api, requests },
    bare: { target: bare, requests },
  });
  const singleMs = await measureSingles(world, bare, requestSets.quotes, options);
  const pairs = { quote: pairOf(requestSets.quotes), status: pairOf(requestSets.statuses) };
  const { quote, status } = await measurePairs(tool, pairs, {
    rounds: options.rounds,
    seconds: options.secondsPerLoad,
    connections: CONNECTIONS,
  });
  return { storedRequests, singleMs, quote, status };
}

async function measureSingles(
  { tool, api }: World,
  bare: Target,
  requests: readonly LoadRequest[],
  { rounds, singles }: BenchOptions,
): Promise<PhaseFigures["singleMs"]> {
  const tookMs = { ours: [] as number[], bare: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    const count = Math.ceil(singles / rounds);
    tookMs.ours.push(...(await tool.singles({ url: api.url, requests, count })).tookMs);
    tookMs.bare.push(...(await tool.singles({ url: bare.url, requests, count })).tookMs);
  }
  const [oursMs, bareMs] = [percentilesOf(tookMs.ours), percentilesOf(tookMs.bare)];
  if (oursMs === undefined || bareMs === undefined) throw new RangeError("no quotes were requested");
  return { ours: oursMs, bare: bareMs };
}

/** The load that quotes put on the chains' nodes. */
export interface ChainCost {
  readonly quotes: number;
  readonly calls: number;
  readonly httpRequests: number;
  readonly callsPerQuote: number;
  /** Per second, without quotes: heads, gas prices, the solver's balances. */
  readonly idleCallsPerSecond: number;
}

/** Counts the API's calls while quotes are requested and blocks arrive normally. */
export async function measureChainCost(
  world: World,
  requests: readonly LoadRequest[],
  seconds: number,
): Promise<ChainCost> {
  return await world.withoutWorker(async () => {
    const start = world.chainCalls();
    await new Promise((resolve) => {
      setTimeout(resolve, seconds * 1_000);
    });
    const idle = world.chainCalls();
    const { url } = world.api;
    const { answered } = await world.tool.load({ url, requests, connections: CONNECTIONS, seconds });
    const end = world.chainCalls();
    const calls = end.calls - idle.calls;
    return {
      quotes: answered,
      calls,
      httpRequests: end.httpRequests - idle.httpRequests,
      callsPerQuote: calls / answered,
      idleCallsPerSecond: (idle.calls - start.calls) / seconds,
    };
  });
}
