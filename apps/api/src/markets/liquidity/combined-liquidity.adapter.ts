import type { LiquiditySource, SwapAnswer, SwapQuestion } from "./liquidity.port.ts";
import type { MaybePromise } from "@causeway/domain";

/**
 * Combines pools and external services. Pools answer first, from memory. External services are queried only
 * on request or when pools have no answer. On ties, pools win. A failed source causes an error only if no
 * other source has an answer.
 */
export function createCombinedLiquidity(
  pools: LiquiditySource,
  services: readonly LiquiditySource[],
): LiquiditySource {
  if (services.length === 0) return pools;

  async function withServices(
    question: SwapQuestion,
    amountIn: bigint,
    poolAnswer: MaybePromise<SwapAnswer | undefined>,
  ): Promise<SwapAnswer | undefined> {
    const results = await Promise.allSettled([
      poolAnswer,
      ...services.map((service) => service.exactIn(question, amountIn)),
    ]);
    let best: SwapAnswer | undefined;
    for (const result of results) {
      const answer = result.status === "fulfilled" ? result.value : undefined;
      if (answer !== undefined && (best === undefined || answer.amountOut > best.amountOut)) best = answer;
    }
    const failed = results.find((result) => result.status === "rejected");
    if (best === undefined && failed !== undefined) throw failed.reason;
    return best;
  }

  async function fallBackToServices(
    question: SwapQuestion,
    amountIn: bigint,
    poolAnswer: Promise<SwapAnswer | undefined>,
  ): Promise<SwapAnswer | undefined> {
    const answer = await poolAnswer.catch(() => undefined);
    return answer ?? (await withServices(question, amountIn, poolAnswer));
  }

  return {
    sources: (chainId) => [pools, ...services].flatMap((source) => source.sources(chainId)),
    exactIn: (question, amountIn) => {
      const poolAnswer = pools.exactIn(question, amountIn);
      if (question.shouldQueryExternal) return withServices(question, amountIn, poolAnswer);
      if (poolAnswer instanceof Promise) return fallBackToServices(question, amountIn, poolAnswer);
      return poolAnswer ?? withServices(question, amountIn, undefined);
    },
    exactOut: (question, amountOut) => pools.exactOut(question, amountOut),
  };
}

/** Answers each question from the source of its chain. Chains that are not in `sources` use `fallback`. */
export function perChain(
  sources: ReadonlyMap<number, LiquiditySource>,
  fallback: LiquiditySource,
): LiquiditySource {
  if (sources.size === 0) return fallback;
  const sourceOf = (chainId: number): LiquiditySource => sources.get(chainId) ?? fallback;
  return {
    sources: (chainId) => sourceOf(chainId).sources(chainId),
    exactIn: (question, amountIn) => sourceOf(question.chainId).exactIn(question, amountIn),
    exactOut: (question, amountOut) => sourceOf(question.chainId).exactOut(question, amountOut),
  };
}
