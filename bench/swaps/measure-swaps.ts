import { setTimeout as sleep } from "node:timers/promises";
import { percentilesOf, type Percentiles } from "../../scripts/soak/percentiles.ts";
import { quoteRequest } from "../capture.ts";
import type { Cores } from "../cores.ts";
import type { LoadRequest } from "../load-orders.ts";
import type { BenchOptions } from "../options.ts";
import { quoteBodies } from "../quote-requests.ts";
import { measurePairs, type PairRates } from "../rounds.ts";
import { startWorld, type World } from "../world.ts";
import { withoutBlocks } from "./pause-mining.ts";
import { swapBodies, swapKinds, type SwapKind } from "./swap-requests.ts";

/** Concurrent quotes. */
const CONCURRENCY = 20;
/** The maximum interval at which the API reads heads and balances on its own. */
const IDLE_ROUND_MS = 1_000;
/**
 * Quotes of each kind, and as many without a swap, so that the reads per user and
 * block cost both the same.
 */
const USERS = 120;

/** The speed of quotes with swaps, and the load they put on the chains. */
export interface SwapFigures {
  /**
   * Response times in ms at {@link CONCURRENCY}, alternating between all kinds, with normal block
   * production.
   */
  readonly tookMs: Percentiles;
  readonly perKindMs: readonly { readonly kind: SwapKind; readonly tookMs: Percentiles }[];
  /** Throughput compared with swap-free quotes, measured alternately on the same server. */
  readonly rates: PairRates;
  readonly withoutBlocks: {
    readonly quotes: number;
    /** The API's calls to both nodes while those were requested. */
    readonly calls: number;
    /** The calls in slightly more time, without quotes. */
    readonly idleCalls: number;
  };
}

/** Starts its own system, and stops it. */
export async function measureSwaps(
  cores: Cores | undefined,
  options: BenchOptions,
  env: Readonly<Record<string, string | undefined>>,
  onProgress: (text: string) => void,
  signal: AbortSignal,
): Promise<SwapFigures> {
  const world = await startWorld({ env, portBase: options.portBase, cores, onProgress, signal });
  try {
    return await measure(world, options, onProgress);
  } finally {
    await world.stop();
  }
}

async function measure(
  world: World,
  options: BenchOptions,
  onProgress: (text: string) => void,
): Promise<SwapFigures> {
  const { tool, api, chains } = world;
  const perKind = swapKinds.map((kind) => ({
    kind,
    requests: swapBodies(kind, chains, USERS).map(quoteRequest),
  }));
  // Alternates between kinds, so that every connection requests all of them.
  const swaps = Array.from({ length: USERS }, (_, index) =>
    perKind.flatMap(({ requests }) => requests.slice(index, index + 1)),
  ).flat();
  const plain = quoteBodies(chains, (USERS * swapKinds.length) / 2).map(quoteRequest);

  onProgress("warming up");
  const { warmUpSeconds, secondsPerLoad, rounds } = options;
  await tool.singles({ url: api.url, requests: swaps, count: swaps.length });
  for (const requests of [swaps, plain])
    await tool.load({ url: api.url, requests, connections: CONCURRENCY, seconds: warmUpSeconds });

  onProgress(`measuring quotes with swaps, ${CONCURRENCY} at a time`);
  const measureConcurrent = async (
    requests: readonly LoadRequest[],
    seconds: number,
  ): Promise<Percentiles> => {
    const { tookMs } = await tool.concurrent({ url: api.url, requests, connections: CONCURRENCY, seconds });
    return percentilesOf(tookMs) ?? fail("no quotes were requested");
  };
  const tookMs = await measureConcurrent(swaps, rounds * secondsPerLoad);
  const perKindMs: { kind: SwapKind; tookMs: Percentiles }[] = [];
  for (const { kind, requests } of perKind)
    perKindMs.push({ kind, tookMs: await measureConcurrent(requests, secondsPerLoad) });
  const { quotes } = await measurePairs(
    tool,
    {
      quotes: {
        ours: { target: api, requests: swaps },
        bare: { target: api, requests: plain },
      },
    },
    { rounds, seconds: secondsPerLoad, connections: CONCURRENCY },
  );

  onProgress("counting chain calls while no block is mined");
  const counted = await world.withoutWorker(
    async () =>
      await withoutBlocks(chains, async () => {
        // The balances of each user are read once per block.
        await tool.singles({ url: api.url, requests: swaps, count: swaps.length });
        const before = world.chainCalls().calls;
        const startedAtMs = performance.now();
        const { answered } = await tool.load({
          url: api.url,
          requests: swaps,
          connections: CONCURRENCY,
          seconds: secondsPerLoad,
        });
        const loadedMs = performance.now() - startedAtMs;
        const after = world.chainCalls().calls;
        // Regular reads come in rounds: a round may fall into either period.
        await sleep(loadedMs + IDLE_ROUND_MS);
        return { quotes: answered, calls: after - before, idleCalls: world.chainCalls().calls - after };
      }),
  );
  return { tookMs, perKindMs, rates: quotes, withoutBlocks: counted };
}

function fail(problem: string): never {
  throw new Error(problem);
}
