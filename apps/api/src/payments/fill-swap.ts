import type { CallPlan } from "@causeway/chains";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address, Chain } from "@causeway/domain";
import type { LiquiditySource, SwapQuestion } from "../markets/liquidity/liquidity.port.ts";
import type { RoutedGas } from "../markets/quote-policy.port.ts";

/** The cheapest swap, on the latest state, that buys an exact output for a fill. */
export interface FillSwap {
  /** Base units that the solver spends. */
  readonly amountIn: bigint;
  /** Gas units of the swap, including wrapping and unwrapping. */
  readonly gas: bigint;
  /** Expected price movement until the transaction is mined, in bps. */
  readonly slippageBps: number;
  /** The calls that the holder of the input makes. They spend at most `limit` base units. */
  calls(limit: bigint, recipient: Address): readonly CallPlan[];
}

/** The output for an exact input. */
export interface FillSwapOutput {
  readonly amountOut: bigint;
  /** Gas units of the swap, including wrapping and unwrapping. */
  readonly gas: bigint;
}

/**
 * Quotes swaps from the solver's currency to the recipient's, on the latest state. Undefined: no route is
 * known, or the pools are too small.
 */
export interface FillSwapQuoter {
  quoteExactIn(amountIn: bigint): Promise<FillSwapOutput | undefined>;
  quoteExactOut(amountOut: bigint): Promise<FillSwap | undefined>;
}

/** Maximum pools of a path: a fill may use more of them than its quote if that is cheaper by then. */
const MAX_HOPS = 3;

/**
 * Finds the swap of a fill from the best source at the time. Its functions throw ServiceError RPC_HTTP_ERROR
 * or SERVICE_UNAVAILABLE if no source answered.
 */
export function fillSwapQuoter(
  liquidity: LiquiditySource,
  chain: Pick<Chain, "id" | "liquidity">,
  { paidFrom, currency }: { readonly paidFrom: Address; readonly currency: Address },
  routed: Pick<RoutedGas, "wrap" | "unwrap">,
): FillSwapQuoter {
  const extraGas =
    (paidFrom === NATIVE_CURRENCY ? routed.wrap : 0n) + (currency === NATIVE_CURRENCY ? routed.unwrap : 0n);
  const wrapped = chain.liquidity?.wrappedNative;
  const [tokenIn, tokenOut] = [paidFrom, currency].map((address) =>
    address === NATIVE_CURRENCY ? wrapped : address,
  );
  if (tokenIn === undefined || tokenOut === undefined) return NO_ROUTE;
  if (tokenIn === tokenOut) return wrapQuoter(extraGas);
  const question: SwapQuestion = {
    chainId: chain.id,
    tokenIn,
    tokenOut,
    // External aggregators do not sell exact outputs.
    included: new Set(chain.liquidity?.sources.map(({ name }) => name)),
    excluded: new Set(),
    maxHops: MAX_HOPS,
    shouldQueryExternal: false,
  };
  return {
    async quoteExactIn(amountIn) {
      const answer = await liquidity.exactIn(question, amountIn);
      return answer && { amountOut: answer.amountOut, gas: answer.gas + extraGas };
    },
    async quoteExactOut(amountOut) {
      const answer = await liquidity.exactOut(question, amountOut);
      if (answer === undefined) return undefined;
      const { amountIn, gas, slippageBps } = answer;
      const calls = (limit: bigint, recipient: Address) =>
        answer.calls({ kind: "exactOut", limit, recipient });
      return { amountIn, gas: gas + extraGas, slippageBps, calls };
    },
  };
}

const NO_ROUTE: FillSwapQuoter = {
  quoteExactIn: async () => undefined,
  quoteExactOut: async () => undefined,
};

/** Native and its wrapped token: wraps or unwraps, without a swap. */
function wrapQuoter(gas: bigint): FillSwapQuoter {
  return {
    quoteExactIn: async (amountIn) => ({ amountOut: amountIn, gas }),
    quoteExactOut: async (amountOut) => ({
      amountIn: amountOut,
      gas,
      slippageBps: 0,
      calls: () => [],
    }),
  };
}
