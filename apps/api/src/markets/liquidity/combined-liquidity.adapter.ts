import type { LiquiditySource, SwapAnswer, SwapQuestion } from "./liquidity.port.ts";
import type { MaybePromise } from "@causeway/domain";

/**
 * Pools first: they answer from memory. External services are asked only on request or when pools have no
 * answer. Ties go to the pools. The failure of a source matters only when no other has an answer.
 */
export function createCombinedLiquidity(
  pools: LiquiditySource,
  services: readonly LiquiditySource[],
): LiquiditySource {
  if (services.length === 0) return pools;

  async function withServices(
    question: SwapQuestion,
    amountIn: bigint,
    ofPools: MaybePromise<SwapAnswer | undefined>,
  ): Promise<SwapAnswer | undefined> {
    const results = await Promise.allSettled([
      ofPools,
      ...services.map((service) => service.exactIn(question, amountIn)),
    ]);
    let best: SwapAnswer | undefined;
    for (const one of results) {
      const answer = one.status === "fulfilled" ? one.value : undefined;
      if (answer !== undefined && (best === undefined || answer.amountOut > best.amountOut)) best = answer;
    }
    const failed = results.find((one) => one.status === "rejected");
    if (best === undefined && failed !== undefined) throw failed.reason;
    return best;
  }

  async function fallBackToServices(
    question: SwapQuestion,
    amountIn: bigint,
    ofPools: Promise<SwapAnswer | undefined>,
  ): Promise<SwapAnswer | undefined> {
    const known = await ofPools.catch(() => undefined);
    return known ?? (await withServices(question, amountIn, ofPools));
  }

  return {
    sources: (chainId) => [pools, ...services].flatMap((one) => one.sources(chainId)),
    exactIn: (question, amountIn) => {
      const ofPools = pools.exactIn(question, amountIn);
      if (question.external) return withServices(question, amountIn, ofPools);
      if (ofPools instanceof Promise) return fallBackToServices(question, amountIn, ofPools);
      return ofPools ?? withServices(question, amountIn, undefined);
    },
    exactOut: (question, amountOut) => pools.exactOut(question, amountOut),
  };
}

/** Answers each question from the source of its chain; `others` has the chains without one. */
export function perChain(
  sources: ReadonlyMap<number, LiquiditySource>,
  others: LiquiditySource,
): LiquiditySource {
  if (sources.size === 0) return others;
  const of = (chainId: number): LiquiditySource => sources.get(chainId) ?? others;
  return {
    sources: (chainId) => of(chainId).sources(chainId),
    exactIn: (question, amountIn) => of(question.chainId).exactIn(question, amountIn),
    exactOut: (question, amountOut) => of(question.chainId).exactOut(question, amountOut),
  };
}
