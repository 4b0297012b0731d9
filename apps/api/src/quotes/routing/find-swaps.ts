import type { Address, Currency, SwapQuoter, SwapAmounts } from "@causeway/domain";
import { hasSwaps, NATIVE_CURRENCY } from "@causeway/domain";
import type { AnyConnectedChain } from "../../chains/chains.port.ts";
import type { SwapAnswer, SwapQuestion } from "../../markets/liquidity/liquidity.port.ts";
import type { RoutedGas } from "../../markets/quote-policy.port.ts";
import type { Market } from "../market.ts";
import type { SideChoice } from "./swap-choice.ts";

/** A swap between two currencies on one chain; either may be the native token. */
export interface RouteSwap extends SwapAmounts {
  /** Absent: the native token is wrapped or unwrapped, one for one. */
  readonly pool: SwapAnswer | undefined;
  readonly spotOut: bigint;
  /** Gas units of the swap, including wrapping and unwrapping. */
  readonly gas: bigint;
  readonly slippageBps: number;
}

/** Whether the user's transaction takes at most the input and deposits exactly the output. */
export function isBounded({ pool }: RouteSwap): boolean {
  return pool?.propose !== undefined;
}

/** Finds a quoter for swaps from one currency to another. Undefined: they cannot be swapped. */
export type FindQuoter = (from: Currency, to: Currency) => SwapQuoter<RouteSwap> | undefined;

/**
 * The swaps of one chain for one quote. Pools swap the native token as its wrapped token.
 * @param slippageBps the client's tolerance, for sources that return bounds instead of expected amounts
 */
export function quotersOn(
  market: Pick<Market, "swap">,
  { chain }: Pick<AnyConnectedChain, "chain">,
  { included, excluded, maxHops, external }: SideChoice,
  gas: Pick<RoutedGas, "wrap" | "unwrap">,
  slippageBps?: number,
): FindQuoter {
  if (!hasSwaps(chain)) return findNoQuoter;
  const wrapped = chain.liquidity?.wrappedNative;
  const isInverse = chain.swapAggregator !== undefined;
  const pools = new Map<string, SwapQuoter<SwapAnswer>>();
  const tokenOf = ({ address }: Currency): Address | undefined =>
    address === NATIVE_CURRENCY ? wrapped : address;
  return (from, to) => {
    if (from.address === to.address) return undefined;
    const [tokenIn, tokenOut] = [tokenOf(from), tokenOf(to)];
    if (tokenIn === undefined || tokenOut === undefined) return undefined;
    const extraGas =
      (from.address === NATIVE_CURRENCY ? gas.wrap : 0n) + (to.address === NATIVE_CURRENCY ? gas.unwrap : 0n);
    if (tokenIn === tokenOut) return oneForOne(extraGas);
    const pair = `${tokenIn}${tokenOut}`;
    let pairPools = pools.get(pair);
    if (pairPools === undefined) {
      pairPools = poolsFor(market, {
        chainId: chain.id,
        tokenIn,
        tokenOut,
        included,
        excluded,
        maxHops,
        shouldQueryExternal: external,
        ...(isInverse && { slippageBps }),
      });
      pools.set(pair, pairPools);
    }
    const quoter = throughPools(pairPools, extraGas);
    return isInverse ? { ...quoter, isInverse } : quoter;
  };
}

/** For a side without swaps. */
export const findNoQuoter: FindQuoter = () => undefined;

function oneForOne(gas: bigint): SwapQuoter<RouteSwap> {
  const swapAtPar = (amount: bigint): RouteSwap => ({
    amountIn: amount,
    amountOut: amount,
    spotOut: amount,
    pool: undefined,
    gas,
    slippageBps: 0,
  });
  return { exactIn: swapAtPar, exactOut: swapAtPar };
}

function throughPools(pools: SwapQuoter<SwapAnswer>, extraGas: bigint): SwapQuoter<RouteSwap> {
  const swapOf = (pool: SwapAnswer | undefined): RouteSwap | undefined =>
    pool && {
      amountIn: pool.amountIn,
      amountOut: pool.amountOut,
      spotOut: pool.spotOut,
      pool,
      gas: pool.gas + extraGas,
      slippageBps: pool.slippageBps,
    };
  return {
    exactIn: (amountIn) => swapOf(pools.exactIn(amountIn)),
    exactOut: (amountOut) => swapOf(pools.exactOut(amountOut)),
  };
}

function poolsFor(market: Pick<Market, "swap">, question: SwapQuestion): SwapQuoter<SwapAnswer> {
  return {
    exactIn: (amountIn) => market.swap(question, "exactIn", amountIn),
    exactOut: (amountOut) => market.swap(question, "exactOut", amountOut),
  };
}
