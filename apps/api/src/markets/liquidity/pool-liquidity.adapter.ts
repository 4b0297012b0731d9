import type { Address, ChainLiquidity } from "@causeway/domain";
import { autoSlippageBps, pathSpot, ServiceError } from "@causeway/domain";
import type { LiquiditySource, SwapAnswer, SwapQuestion } from "./liquidity.port.ts";
import type { MaybePromise } from "@causeway/domain";
import {
  bestOutput,
  minInput,
  MAX_HOPS,
  type BestPath,
  type Leg,
  type PathSearch,
} from "./best-path.adapter.ts";
import type { ChainPools, PoolSnapshot } from "./chain-pools.adapter.ts";
import { routerOf, swapCalls } from "./swap-calls.adapter.ts";
import { pairsOfPaths, type TokenPair } from "./token-pair.adapter.ts";

/** A chain whose pools are cached in memory. */
export interface PooledChain {
  readonly chainId: number;
  readonly liquidity: ChainLiquidity;
  readonly pools: ChainPools;
  /** Configured tokens whose nonzero allowance can be changed directly. */
  readonly plainApprovals: ReadonlySet<Address>;
}

/** The parts of a question that do not depend on the amount. */
interface PreparedQuestion {
  readonly chain: PooledChain;
  readonly pairs: readonly TokenPair[];
  readonly search: Omit<PathSearch, "live">;
}

/**
 * Gas units, measured with the routers of the local contracts and rounded up to a thousand: the fixed cost of
 * a swap with approvals, the cost of each pool by kind, and of each initialized tick that is crossed.
 */
const GAS = { base: 75_000n, concentrated: 85_000n, pair: 75_000n, crossedTick: 24_000n };

/**
 * Swaps through pools cached in memory. Each answer is computed from one block, synchronously if the cached
 * pools are at the newest block.
 */
export function createPoolLiquidity(chains: readonly PooledChain[]): LiquiditySource {
  const byId = new Map(chains.map((chain) => [chain.chainId, chain]));
  const tradable = new Map(chains.map((chain) => [chain.chainId, tradableNames(chain.liquidity)]));

  /** Cached, because a quote asks the same question with many amounts. */
  const prepared = new WeakMap<SwapQuestion, PreparedQuestion | "noPools">();

  function prepare(question: SwapQuestion): PreparedQuestion | "noPools" {
    const { tokenIn, tokenOut } = question;
    const chain = byId.get(question.chainId);
    if (chain === undefined || tokenIn === tokenOut) return "noPools";
    const sources = allowedSources(question, tradable.get(question.chainId) ?? []);
    const maxHops = Math.min(question.maxHops, MAX_HOPS);
    if (sources.length === 0 || maxHops < 1) return "noPools";
    const { connectors } = chain.liquidity;
    const pairs = pairsOfPaths(tokenIn, tokenOut, connectors, maxHops);
    return { chain, pairs, search: { sources, connectors, tokenIn, tokenOut, maxHops } };
  }

  function answer(
    question: SwapQuestion,
    find: (search: PathSearch) => BestPath | undefined,
  ): MaybePromise<SwapAnswer | undefined> {
    let preparedQuestion = prepared.get(question);
    if (preparedQuestion === undefined) {
      preparedQuestion = prepare(question);
      prepared.set(question, preparedQuestion);
    }
    if (preparedQuestion === "noPools") return undefined;
    const { chain, pairs, search: searchBase } = preparedQuestion;
    const answerFrom = ({ live, block }: PoolSnapshot): SwapAnswer | undefined => {
      const path = find({ ...searchBase, live });
      return path && toAnswer(chain, path, block.number);
    };
    const snapshot = chain.pools.read(pairs);
    return snapshot instanceof Promise
      ? snapshot.then(answerFrom, (cause: unknown) => {
          throw new ServiceError("RPC_HTTP_ERROR", "The swap pools could not be read; try again", {
            data: { chainId: chain.chainId },
            cause,
          });
        })
      : answerFrom(snapshot);
  }

  return {
    sources: (chainId) => tradable.get(chainId) ?? [],
    exactIn: (question, amountIn) =>
      amountIn <= 0n ? undefined : answer(question, (search) => bestOutput(search, amountIn)),
    exactOut: (question, amountOut) =>
      amountOut <= 0n ? undefined : answer(question, (search) => minInput(search, amountOut)),
  };
}

function tradableNames({ sources }: ChainLiquidity): string[] {
  return sources.filter((source) => routerOf(source) !== undefined).map(({ name }) => name);
}

function allowedSources({ included, excluded }: SwapQuestion, names: readonly string[]): string[] {
  return names.filter((name) => (included === undefined || included.has(name)) && !excluded.has(name));
}

function toAnswer(chain: PooledChain, path: BestPath, blockNumber: bigint): SwapAnswer {
  const { amountIn, amountOut, legs } = path;
  const first = legs[0] as Leg;
  const { source } = first.pool.identity;
  const spotOut = pathSpot(
    legs.map(({ hop }) => hop),
    amountIn,
  );
  return {
    source: source.name,
    path: [first.tokenIn, ...legs.map(({ tokenOut }) => tokenOut)],
    amountIn,
    amountOut,
    spotOut,
    gas: gasOf(legs),
    slippageBps: autoSlippageBps(
      amountOut,
      spotOut,
      legs.map(({ pool }) => pool.movedBps),
    ),
    blockNumber,
    calls: (bound) => {
      const router = routerOf(source);
      if (router === undefined)
        throw new RangeError(`invariant violated: swap source ${source.name} has no router`);
      return swapCalls(source, router, path, bound, !chain.plainApprovals.has(first.tokenIn));
    },
  };
}

function gasOf(legs: readonly Leg[]): bigint {
  let gas = GAS.base;
  for (const { hop, crossedTicks } of legs)
    gas += hop.kind === "pair" ? GAS.pair : GAS.concentrated + GAS.crossedTick * BigInt(crossedTicks);
  return gas;
}
