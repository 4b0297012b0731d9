import type { Address, Hop } from "@causeway/domain";
import { pairInput, pairOutput, swapConcentrated } from "@causeway/domain";
import type { LivePool } from "./live-pool.adapter.ts";
import { tokenPair } from "./token-pair.adapter.ts";

/** One pool of a path. */
export interface Leg {
  readonly pool: LivePool;
  readonly hop: Hop;
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  readonly crossedTicks: number;
}

/** A path through pools of one source. */
export interface BestPath {
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  readonly legs: readonly Leg[];
}

/** The search space: `live` has the pools by the key of their pair. */
export interface PathSearch {
  readonly live: ReadonlyMap<string, readonly LivePool[]>;
  /** Names of sources. On ties, the earlier source wins. */
  readonly sources: readonly string[];
  readonly connectors: readonly Address[];
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  readonly maxHops: number;
}

/** A linked list of hops, newest first, so that paths share their common beginning. */
interface Reached {
  /**
   * Amount of `token`: the output so far when searching forward, the input so far when searching backward.
   */
  readonly amount: bigint;
  readonly complete: boolean;
  readonly token: Address;
  readonly leg: Leg | undefined;
  readonly from: Reached | undefined;
}

/** Maximum number of pools. A longer path would lose more to fees than it could gain. */
export const MAX_HOPS = 3;

/**
 * The path with the highest output for an input. Each step takes the best pool between its two tokens,
 * because more of a token never buys less of the next one. On ties, prefers the first source, the fewest
 * pools, the first connector and the first fee, in this order. Pure.
 * @returns undefined without a path, or when the best path cannot take the whole input: any other path yields
 * less, although it takes more
 */
export function bestOutput(search: PathSearch, amountIn: bigint): BestPath | undefined {
  return bestOf(
    search,
    (source) => explore(search, source, search.tokenIn, search.tokenOut, amountIn, stepForward),
    (candidate, best) => candidate.amount > best.amount,
    (end) => ({ amountIn, amountOut: end.amount, legs: legsOf(end).toReversed() }),
  );
}

/**
 * The path with the lowest input for an output. Pure.
 * @returns undefined when no path has enough liquidity
 */
export function minInput(search: PathSearch, amountOut: bigint): BestPath | undefined {
  return bestOf(
    search,
    (source) => explore(search, source, search.tokenOut, search.tokenIn, amountOut, stepBack),
    (candidate, best) => candidate.amount < best.amount,
    (end) => ({ amountIn: end.amount, amountOut, legs: legsOf(end) }),
  );
}

function bestOf(
  { sources }: PathSearch,
  endOf: (source: string) => Reached | undefined,
  isBetter: (candidate: Reached, best: Reached) => boolean,
  toPath: (end: Reached) => BestPath,
): BestPath | undefined {
  let best: Reached | undefined;
  for (const source of sources) {
    const end = endOf(source);
    if (end !== undefined && (best === undefined || isBetter(end, best))) best = end;
  }
  return best?.complete === true && best.amount > 0n ? toPath(best) : undefined;
}

/** One step through the best pool of a pair, or undefined if there is none. */
type Step = (search: PathSearch, source: string, position: Reached, next: Address) => Reached | undefined;

/** Searches from `start` to `goal` along the best paths of at most `maxHops` pools. */
function explore(
  search: PathSearch,
  source: string,
  start: Address,
  goal: Address,
  amount: bigint,
  step: Step,
): Reached | undefined {
  const maxHops = Math.min(search.maxHops, MAX_HOPS);
  const connectors = search.connectors.filter((token) => token !== start && token !== goal);
  const better = step === stepForward ? isMore : isLess;
  let best: Reached | undefined;
  let frontier: readonly Reached[] = [
    { amount, complete: true, token: start, leg: undefined, from: undefined },
  ];
  for (let hops = 1; hops <= maxHops && frontier.length > 0; hops++) {
    for (const position of frontier) best = better(step(search, source, position, goal), best);
    if (hops === maxHops) break;
    const farther: Reached[] = [];
    for (const next of connectors) {
      let reached: Reached | undefined;
      for (const position of frontier)
        if (position.token !== next) reached = better(step(search, source, position, next), reached);
      if (reached !== undefined) farther.push(reached);
    }
    frontier = farther;
  }
  return best;
}

function isMore(candidate: Reached | undefined, best: Reached | undefined): Reached | undefined {
  if (candidate === undefined || best === undefined) return best ?? candidate;
  return isMoreThan(candidate.amount, candidate.complete, best) ? candidate : best;
}

function isMoreThan(amount: bigint, complete: boolean, best: Reached): boolean {
  return amount === best.amount ? complete && !best.complete : amount > best.amount;
}

function isLess(candidate: Reached | undefined, best: Reached | undefined): Reached | undefined {
  if (candidate === undefined || best === undefined) return best ?? candidate;
  return candidate.amount < best.amount ? candidate : best;
}

function stepForward(
  search: PathSearch,
  source: string,
  position: Reached,
  next: Address,
): Reached | undefined {
  const pair = tokenPair(position.token, next);
  let best: Reached | undefined;
  for (const pool of search.live.get(pair.key) ?? []) {
    if (pool.known.source.name !== source) continue;
    const hop = position.token === pair.token0 ? pool.down : pool.up;
    let amount: bigint;
    let complete = position.complete;
    let crossedTicks = 0;
    if (hop.kind === "pair") amount = pairOutput(hop.pool, hop.zeroForOne, position.amount);
    else {
      const swap = swapConcentrated(hop.pool, hop.zeroForOne, "exactIn", position.amount);
      amount = swap.amountOut;
      complete &&= swap.complete;
      crossedTicks = swap.crossedTicks;
    }
    if (amount === 0n || (best !== undefined && !isMoreThan(amount, complete, best))) continue;
    const leg = { pool, hop, tokenIn: position.token, tokenOut: next, crossedTicks };
    best = { amount, complete, token: next, leg, from: position };
  }
  return best;
}

function stepBack(search: PathSearch, source: string, position: Reached, next: Address): Reached | undefined {
  const pair = tokenPair(position.token, next);
  let best: Reached | undefined;
  for (const pool of search.live.get(pair.key) ?? []) {
    if (pool.known.source.name !== source) continue;
    const hop = next === pair.token0 ? pool.down : pool.up;
    let amount: bigint | undefined;
    let crossedTicks = 0;
    if (hop.kind === "pair") amount = pairInput(hop.pool, hop.zeroForOne, position.amount);
    else {
      const swap = swapConcentrated(hop.pool, hop.zeroForOne, "exactOut", position.amount);
      amount = swap.complete ? swap.amountIn : undefined;
      crossedTicks = swap.crossedTicks;
    }
    if (amount === undefined || (best !== undefined && amount >= best.amount)) continue;
    const leg = { pool, hop, tokenIn: next, tokenOut: position.token, crossedTicks };
    best = { amount, complete: true, token: next, leg, from: position };
  }
  return best;
}

/** The legs of a path from the newest step to the first. */
function legsOf(end: Reached): Leg[] {
  const legs: Leg[] = [];
  for (let position: Reached | undefined = end; position?.leg !== undefined; position = position.from)
    legs.push(position.leg);
  return legs;
}
