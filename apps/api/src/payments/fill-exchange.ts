import type { CallPlan } from "@causeway/chains";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address, Chain } from "@causeway/domain";
import type { LiquiditySource, SwapQuestion } from "../markets/liquidity/liquidity.port.ts";
import type { RoutedGas } from "../markets/quote-policy.port.ts";

/** The cheapest way, at the newest state, to exactly so much of what a fill pays. */
export interface FillExchangeAnswer {
  /** Smallest units of what the solver spends. */
  readonly amountIn: bigint;
  /** Gas units of the exchange, wrapping and unwrapping included. */
  readonly gas: bigint;
  /** How far its price may be expected to move before the transaction is mined, bps. */
  readonly slippageBps: number;
  /** Made by whoever holds the input, for at most `limit` of it. */
  calls(limit: bigint, recipient: Address): readonly CallPlan[];
}

/** What so much of what the solver spends buys. */
export interface FillPurchase {
  readonly amountOut: bigint;
  /** Gas units of the exchange, wrapping and unwrapping included. */
  readonly gas: bigint;
}

/**
 * Where what the solver spends becomes what the recipient gets. Undefined: no way is known now, or the pools
 * do not bear it.
 */
export interface FillExchange {
  buys(amountIn: bigint): Promise<FillPurchase | undefined>;
  costs(amountOut: bigint): Promise<FillExchangeAnswer | undefined>;
}

/**
 * Pools that a path may lead through at most: what was quoted by fewer may be filled by more when that is
 * cheaper by then.
 */
const MAX_HOPS = 3;

/**
 * The exchange of a fill, by whatever source is the best then. Its functions throw ServiceError
 * RPC_HTTP_ERROR or SERVICE_UNAVAILABLE when no source answered.
 * @param liquidity undefined: this instance exchanges nothing, and only wraps
 */
export function exchangeInFill(
  liquidity: LiquiditySource | undefined,
  chain: Pick<Chain, "id" | "liquidity">,
  { paidFrom, currency }: { readonly paidFrom: Address; readonly currency: Address },
  routed: Pick<RoutedGas, "wrap" | "unwrap">,
): FillExchange {
  const extraGas =
    (paidFrom === NATIVE_CURRENCY ? routed.wrap : 0n) + (currency === NATIVE_CURRENCY ? routed.unwrap : 0n);
  const wrapped = chain.liquidity?.wrappedNative;
  const [tokenIn, tokenOut] = [paidFrom, currency].map((one) => (one === NATIVE_CURRENCY ? wrapped : one));
  if (tokenIn === undefined || tokenOut === undefined) return NONE;
  if (tokenIn === tokenOut) return oneForOne(extraGas);
  if (liquidity === undefined) return NONE;
  const question: SwapQuestion = {
    chainId: chain.id,
    tokenIn,
    tokenOut,
    // Services of others sell no exact outputs.
    included: new Set(chain.liquidity?.sources.map(({ name }) => name)),
    excluded: new Set(),
    maxHops: MAX_HOPS,
    external: false,
  };
  return {
    async buys(amountIn) {
      const answer = await liquidity.exactIn(question, amountIn);
      return answer && { amountOut: answer.amountOut, gas: answer.gas + extraGas };
    },
    async costs(amountOut) {
      const answer = await liquidity.exactOut(question, amountOut);
      if (answer === undefined) return undefined;
      const { amountIn, gas, slippageBps } = answer;
      const calls = (limit: bigint, recipient: Address) =>
        answer.calls({ kind: "exactOut", limit, recipient });
      return { amountIn, gas: gas + extraGas, slippageBps, calls };
    },
  };
}

const NONE: FillExchange = { buys: async () => undefined, costs: async () => undefined };

/** Native and its wrapped token: the fill wraps or unwraps, and there is nothing to swap. */
function oneForOne(gas: bigint): FillExchange {
  return {
    buys: async (amountIn) => ({ amountOut: amountIn, gas }),
    costs: async (amountOut) => ({
      amountIn: amountOut,
      gas,
      slippageBps: 0,
      calls: () => [],
    }),
  };
}
