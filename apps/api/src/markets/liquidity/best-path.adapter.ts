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
interface PathNode {
  /**
   * Amount of `token`: the output so far when searching forward, the input so far when searching backward.
   */
  readonly amount: bigint;
  /** Whether the pools so far take the whole input. */
  readonly isComplete: boolean;
  readonly token: Address;
  /** The newest hop. Undefined at the start of the path. */
  readonly leg: Leg | undefined;
  readonly previous: PathNode | undefined;
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
  endOf: (source: string) => PathNode | undefined,
  isBetter: (candidate: PathNode, best: PathNode) => boolean,
  toPath: (end: PathNode) => BestPath,
): BestPath | undefined {
  let best: PathNode | undefined;
  for (const source of sources) {
    const end = endOf(source);
    if (end !== undefined && (best === undefined || isBetter(end, best))) best = end;
  }
  return best?.isComplete === true && best.amount > 0n ? toPath(best) : undefined;
}

/** One step through the best pool of a pair, or undefined if there is none. */
type Step = (search: PathSearch, source: string, position: PathNode, next: Address) => PathNode | undefined;

/** Searches from `start` to `goal` along the best paths of at most `maxHops` pools. */
function explore(
  search: PathSearch,
  source: string,
  start: Address,
  goal: Address,
  amount: bigint,
  step: Step,
): PathNode | undefined {
  const maxHops = Math.min(search.maxHops, MAX_HOPS);
  const connectors = search.connectors.filter((token) => token !== start && token !== goal);
  const pickBetter = step === stepForward ? higherOf : lowerOf;
  let best: PathNode | undefined;
  let frontier: readonly PathNode[] = [
    { amount, isComplete: true, token: start, leg: undefined, previous: undefined },
  ];
  for (let hops = 1; hops <= maxHops && frontier.length > 0; hops++) {
    for (const position of frontier) best = pickBetter(step(search, source, position, goal), best);
    if (hops === maxHops) break;
    const farther: PathNode[] = [];
    for (const next of connectors) {
      let reached: PathNode | undefined;
      for (const position of frontier)
        if (position.token !== next) reached = pickBetter(step(search, source, position, next), reached);
      if (reached !== undefined) farther.push(reached);
    }
    frontier = farther;
  }
  return best;
}

function higherOf(candidate: PathNode | undefined, best: PathNode | undefined): PathNode | undefined {
  if (candidate === undefined || best === undefined) return best ?? candidate;
  return isMoreThan(candidate.amount, candidate.isComplete, best) ? candidate : best;
}

function isMoreThan(amount: bigint, complete: boolean, best: PathNode): boolean {
  return amount === best.amount ? complete && !best.isComplete : amount > best.amount;
}

function lowerOf(candidate: PathNode | undefined, best: PathNode | undefined): PathNode | undefined {
  if (candidate === undefined || best === undefined) return best ?? candidate;
  return candidate.amount < best.amount ? candidate : best;
}

function stepForward(
  search: PathSearch,
  source: string,
  position: PathNode,
  next: Address,
): PathNode | undefined {
  const pair = tokenPair(position.token, next);
  let best: PathNode | undefined;
  for (const pool of search.live.get(pair.key) ?? []) {
    if (pool.identity.source.name !== source) continue;
    const hop = position.token === pair.token0 ? pool.down : pool.up;
    let amount: bigint;
    let isComplete = position.isComplete;
    let crossedTicks = 0;
    if (hop.kind === "pair") amount = pairOutput(hop.pool, hop.zeroForOne, position.amount);
    else {
      const swap = swapConcentrated(hop.pool, hop.zeroForOne, "exactIn", position.amount);
      amount = swap.amountOut;
      isComplete &&= swap.complete;
      crossedTicks = swap.crossedTicks;
    }
    if (amount === 0n || (best !== undefined && !isMoreThan(amount, isComplete, best))) continue;
    const leg = { pool, hop, tokenIn: position.token, tokenOut: next, crossedTicks };
    best = { amount, isComplete: isComplete, token: next, leg, previous: position };
  }
  return best;
}

function stepBack(
  search: PathSearch,
  source: string,
  position: PathNode,
  next: Address,
): PathNode | undefined {
  const pair = tokenPair(position.token, next);
  let best: PathNode | undefined;
  for (const pool of search.live.get(pair.key) ?? []) {
    if (pool.identity.source.name !== source) continue;
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
    best = { amount, isComplete: true, token: next, leg, previous: position };
  }
  return best;
}

/** The legs of a path from the newest step to the first. */
function legsOf(end: PathNode): Leg[] {
  const legs: Leg[] = [];
  for (let position: PathNode | undefined = end; position?.leg !== undefined; position = position.previous)
    legs.push(position.leg);
  return legs;
}
