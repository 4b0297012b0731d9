import type { Address, Hex } from "@causeway/domain";
import { pairInput, pairOutput, spotPair } from "@causeway/domain";
import type {
  LiquiditySource,
  SwapAnswer,
  SwapBound,
  SwapQuestion,
} from "../../apps/api/src/markets/liquidity/liquidity.port.ts";
import type { Services } from "../../apps/api/src/db/services.port.ts";
import type { MaybePromise } from "@causeway/domain";

/** A pool with two tokens and a fee of 30 bps. */
export interface FakePair {
  readonly chainId: number;
  readonly source: string;
  readonly tokens: readonly [Address, Address];
  readonly reserves: readonly [bigint, bigint];
}

export interface FakeLiquidity extends LiquiditySource {
  /** The number of quote requests so far. */
  queries: number;
}

/** Liquidity of an instance without swaps. */
export const noPools: Pick<Services, "liquidity" | "poolUsd"> = {
  liquidity: { sources: () => [], exactIn: () => undefined, exactOut: () => undefined },
  poolUsd: () => undefined,
};

/** The target of the calls in every answer. */
export const POOL_ROUTER: Address = `0x${"90".repeat(20)}`;
export const POOL_SLIPPAGE_BPS = 25;
export const POOL_GAS = 90_000n;

/**
 * A call that stands for a swap: its calldata is text as hex, so that a test can read what the pool received.
 */
export const poolCall = (
  { amountIn, amountOut }: Pick<SwapAnswer, "amountIn" | "amountOut">,
  { kind, limit, recipient }: SwapBound,
): Hex =>
  `0x${Buffer.from(`${kind} ${amountIn} ${amountOut} ${limit} ${recipient}`, "utf8").toString("hex")}`;

/**
 * Constant-product pairs, and every path through at most `maxHops` of them. With `isAsync`, they answer
 * asynchronously, like sources over a network.
 */
export function pairLiquidity(
  pairs: readonly FakePair[],
  {
    later: isAsync = false,
    fails,
  }: { readonly later?: boolean; readonly fails?: () => Error | undefined } = {},
): FakeLiquidity {
  const source: FakeLiquidity = {
    queries: 0,
    sources: (chainId) => [
      ...new Set(pairs.filter((pair) => pair.chainId === chainId).map((pair) => pair.source)),
    ],
    exactIn: (question, amountIn) =>
      answer(() =>
        bestOf(
          pathsOf(pairs, question).map((path) => answerForInput(path, amountIn)),
          hasMoreOutput,
        ),
      ),
    exactOut: (question, amountOut) =>
      answer(() =>
        bestOf(
          pathsOf(pairs, question).map((path) => answerForOutput(path, amountOut)),
          hasLessInput,
        ),
      ),
  };
  function answer(find: () => SwapAnswer | undefined): MaybePromise<SwapAnswer | undefined> {
    source.queries++;
    const fault = fails?.();
    if (fault !== undefined) throw fault;
    return isAsync ? Promise.resolve(find()) : find();
  }
  return source;
}

interface Hop {
  readonly pool: { readonly reserve0: bigint; readonly reserve1: bigint; readonly feeBps: bigint };
  readonly to: Address;
  readonly source: string;
}

interface Path {
  readonly from: Address;
  readonly hops: readonly Hop[];
}

function pathsOf(pairs: readonly FakePair[], question: SwapQuestion): Path[] {
  const { chainId, tokenIn, tokenOut, included, excluded, maxHops } = question;
  const usable = pairs.filter(
    ({ chainId: on, source }) => on === chainId && included?.has(source) !== false && !excluded.has(source),
  );
  const found: Path[] = [];
  const walk = (token: Address, hops: readonly Hop[], remaining: readonly FakePair[]): void => {
    if (token === tokenOut) {
      found.push({ from: tokenIn, hops });
      return;
    }
    if (hops.length === maxHops) return;
    for (const pair of remaining) {
      const side = pair.tokens.indexOf(token);
      if (side < 0 || (hops[0] !== undefined && hops[0].source !== pair.source)) continue;
      const [reserve0, reserve1] =
        side === 0 ? pair.reserves : ([pair.reserves[1], pair.reserves[0]] as const);
      const to = pair.tokens[1 - side] as Address;
      const hop = { pool: { reserve0, reserve1, feeBps: 30n }, to, source: pair.source };
      walk(
        to,
        [...hops, hop],
        remaining.filter((candidate) => candidate !== pair),
      );
    }
  };
  walk(tokenIn, [], usable);
  return found;
}

function answerForInput(path: Path, amountIn: bigint): SwapAnswer | undefined {
  let [amountOut, spotOut] = [amountIn, amountIn];
  for (const { pool } of path.hops) {
    amountOut = pairOutput(pool, true, amountOut);
    spotOut = spotPair(pool, true, spotOut);
  }
  return amountOut === 0n ? undefined : toAnswer(path, amountIn, amountOut, spotOut);
}

function answerForOutput(path: Path, amountOut: bigint): SwapAnswer | undefined {
  let amountIn = amountOut;
  for (const { pool } of path.hops.toReversed()) {
    const needed = pairInput(pool, true, amountIn);
    if (needed === undefined) return undefined;
    amountIn = needed;
  }
  const spotOut = path.hops.reduce((amount, { pool }) => spotPair(pool, true, amount), amountIn);
  return toAnswer(path, amountIn, amountOut, spotOut);
}

function toAnswer(path: Path, amountIn: bigint, amountOut: bigint, spotOut: bigint): SwapAnswer {
  return {
    source: path.hops[0]?.source ?? "",
    path: [path.from, ...path.hops.map(({ to }) => to)],
    amountIn,
    amountOut,
    spotOut,
    gas: POOL_GAS * BigInt(path.hops.length),
    slippageBps: POOL_SLIPPAGE_BPS,
    blockNumber: 1n,
    calls: (bound) => [{ to: POOL_ROUTER, data: poolCall({ amountIn, amountOut }, bound), value: 0n }],
  };
}

type Compare = (a: SwapAnswer, b: SwapAnswer) => boolean;
const hasMoreOutput: Compare = (a, b) => a.amountOut > b.amountOut;
const hasLessInput: Compare = (a, b) => a.amountIn < b.amountIn;

function bestOf(answers: readonly (SwapAnswer | undefined)[], isBetter: Compare): SwapAnswer | undefined {
  let found: SwapAnswer | undefined;
  for (const answer of answers)
    if (answer !== undefined && (found === undefined || isBetter(answer, found))) found = answer;
  return found;
}
