import { stopTogether, type Stoppable } from "@causeway/testkit";
import type { Cores } from "../cores.ts";
import { startLoadTool } from "../load-process.ts";
import type { BenchOptions } from "../options.ts";
import { measurePairs, type PairRates } from "../rounds.ts";
import { measureSigning, type SigningFigures } from "./hash-and-sign.ts";
import { startOracleWorld } from "./oracle-world.ts";
import { measureQuorum, type QuorumFigures } from "./quorum-latency.ts";
import { depositRequests, fillRequests } from "./requests.ts";

/** All figures of the oracle. */
export interface OracleFigures {
  readonly deposits: PairRates;
  readonly fills: PairRates;
  readonly signing: SigningFigures;
  readonly quorum: QuorumFigures;
}

export const ORACLE_CONNECTIONS = 16;
/** Far more than the oracle caches, so that none is still cached when it is requested again. */
const DISTINCT = 12_000;
const QUORUM_TURNS = 60;

/**
 * Measures deposits and fills next to a bare server, then signing and a quorum alone. Nothing else may run
 * at the same time.
 */
export async function measureOracle(
  cores: Cores | undefined,
  {
    rounds,
    secondsPerLoad,
    warmUpSeconds,
  }: Pick<BenchOptions, "rounds" | "secondsPerLoad" | "warmUpSeconds">,
  signal: AbortSignal,
): Promise<OracleFigures> {
  const tool = startLoadTool(signal);
  const toStop: Stoppable[] = [tool];
  try {
    const world = await startOracleWorld({ cores, count: DISTINCT, signal });
    toStop.unshift(world);
    const requests = { deposits: depositRequests(DISTINCT), fills: await fillRequests(DISTINCT) };
    const examples = Object.values(requests).flatMap(([first]) => first ?? []);
    const bare = await world.startBare(examples);
    const pairOf = (routeRequests: (typeof requests)["fills"]) => ({
      ours: { target: world.oracle, requests: routeRequests },
      bare: { target: bare, requests: routeRequests },
    });
    const pairs = { deposits: pairOf(requests.deposits), fills: pairOf(requests.fills) };
    for (const { ours, bare: bareSubject } of Object.values(pairs))
      for (const subject of [ours, bareSubject])
        await tool.load({
          url: subject.target.url,
          requests: subject.requests,
          connections: ORACLE_CONNECTIONS,
          seconds: warmUpSeconds,
        });
    const { deposits, fills } = await measurePairs(tool, pairs, {
      rounds,
      seconds: secondsPerLoad,
      connections: ORACLE_CONNECTIONS,
    });
    const signing = await measureSigning(rounds, secondsPerLoad * 100);
    return { deposits, fills, signing, quorum: await measureQuorum(QUORUM_TURNS) };
  } finally {
    await stopTogether(toStop);
  }
}
