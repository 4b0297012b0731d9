import { cpuSeconds } from "./cores.ts";
import type { LoadRequest } from "./load-orders.ts";
import { median } from "./median.ts";
import type { Target, World } from "./world.ts";

/** One route of one server under load. */
export interface Subject {
  readonly target: Target;
  readonly requests: readonly LoadRequest[];
}

/** One of our routes and the bare route that it is compared with. */
export interface Pair {
  readonly ours: Subject;
  readonly bare: Subject;
}

/** One route in all rounds. */
export interface Rates {
  /** Answers per second, one figure per round. */
  readonly perRound: readonly number[];
  readonly median: number;
  /** The share of a core that the server used: if it is not near 1, something else was the limit. */
  readonly busy: number;
  /** CPU time of the server per answer, in us: the limit of its rate on a dedicated machine. */
  readonly cpuUs: number;
  readonly bytesPerAnswer: number;
}

/** Both routes of a pair, measured alternately. */
export interface PairRates {
  readonly ours: Rates;
  readonly bare: Rates;
  /** Our rate divided by the bare one, per round: measurements close in time see the same noise. */
  readonly ratioPerRound: readonly number[];
  readonly ratio: number;
}

export interface RoundOptions {
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
}

interface Sample {
  readonly rate: number;
  readonly busy: number;
  readonly cpuUs: number;
  readonly bytesPerAnswer: number;
}

/** Loads both routes of every pair once per round; the first one of a pair alternates. */
export async function measurePairs<Name extends string>(
  tool: World["tool"],
  pairs: Readonly<Record<Name, Pair>>,
  options: RoundOptions,
): Promise<Record<Name, PairRates>> {
  const names = Object.keys(pairs) as Name[];
  const samples = names.map(() => ({ ours: [] as Sample[], bare: [] as Sample[] }));
  for (let round = 0; round < options.rounds; round++) {
    for (const [index, name] of names.entries()) {
      const sides = round % 2 === 0 ? (["ours", "bare"] as const) : (["bare", "ours"] as const);
      for (const side of sides) samples[index]?.[side].push(await sample(tool, pairs[name][side], options));
    }
  }
  const rates = names.map((name, index): [Name, PairRates] => {
    const { ours, bare } = samples[index] ?? { ours: [], bare: [] };
    const ratioPerRound = ours.map(({ rate }, round) => rate / (bare[round]?.rate ?? Number.NaN));
    const pair = { ours: ratesOf(ours), bare: ratesOf(bare), ratioPerRound, ratio: median(ratioPerRound) };
    return [name, pair];
  });
  return Object.fromEntries(rates) as Record<Name, PairRates>;
}

async function sample(
  tool: World["tool"],
  { target, requests }: Subject,
  { connections, seconds }: RoundOptions,
): Promise<Sample> {
  const [usedBefore, startedAtMs] = [cpuSeconds(target.pid), performance.now()];
  const { rate, answered, bytesPerAnswer } = await tool.load({
    url: target.url,
    requests,
    connections,
    seconds,
  });
  const used = cpuSeconds(target.pid) - usedBefore;
  return {
    rate,
    bytesPerAnswer,
    cpuUs: (used / answered) * 1e6,
    busy: used / ((performance.now() - startedAtMs) / 1_000),
  };
}

function ratesOf(samples: readonly Sample[]): Rates {
  const perRound = samples.map(({ rate }) => rate);
  return {
    perRound,
    median: median(perRound),
    busy: median(samples.map(({ busy }) => busy)),
    cpuUs: median(samples.map(({ cpuUs }) => cpuUs)),
    bytesPerAnswer: median(samples.map(({ bytesPerAnswer }) => bytesPerAnswer)),
  };
}
