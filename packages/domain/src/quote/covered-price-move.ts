import type { Currency } from "../chain/chain.ts";
import type { TradeType } from "../request/terms.ts";
import { isOneAsset, pairClassOf } from "./fee-policy.ts";
import type { FeePolicy, PairClass } from "./fee-policy.ts";
import { splitSlippage } from "./swap-guarantee.ts";
import type { SlippageBps } from "./swap-guarantee.ts";

/**
 * How much adverse price movement the service covers for a pair, in bps. A firm price between two different
 * assets is an option against the solver, so the coverage does not exceed the service fee.
 */
export function coveredBps(
  { honorBps, serviceBps }: Pick<FeePolicy, "honorBps" | "serviceBps">,
  pairClass: PairClass,
): number {
  return isOneAsset(pairClass) ? honorBps : Math.min(honorBps, serviceBps[pairClass]);
}

/** The lowest coverage of the pairs that decide whether the route can still be filled. */
export function coveredOnRoute(
  policy: Pick<FeePolicy, "honorBps" | "serviceBps">,
  pairs: ReadonlyArray<readonly [Currency, Currency]>,
): number {
  return pairs.reduce(
    (lowest, [from, to]) => Math.min(lowest, coveredBps(policy, pairClassOf(from, to))),
    policy.honorBps,
  );
}

/** The slippage that pool swaps need on each side, bps; 0 without a swap. */
export interface PoolSlippage {
  readonly origin: number;
  readonly destination: number;
}

/**
 * The slippage of a route through the solver: the client's, divided between its sides, or the automatic one.
 * An exact-output fill has no slippage.
 */
export function routeSlippage(
  { automaticSlippageBps }: Pick<FeePolicy, "automaticSlippageBps">,
  clientBps: number | undefined,
  tradeType: TradeType,
  pairClass: PairClass,
  pools: PoolSlippage,
): SlippageBps {
  return splitSlippage(clientBps, {
    origin: pools.origin,
    destination: tradeType === "EXACT_OUTPUT" ? 0 : automaticSlippageBps[pairClass] + pools.destination,
  });
}
