import type { CallPlan, ProposedSwap } from "@causeway/chains";
import type { MaybePromise } from "@causeway/domain";
import type { Address, Currency, Hex } from "@causeway/domain";

/**
 * A swap of one token for another on one chain. Callers pass the wrapped token for the native token and wrap
 * it themselves.
 */
export interface SwapQuestion {
  readonly chainId: number;
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  /** Names of sources that may be used; undefined = all but the excluded ones. */
  readonly included: ReadonlySet<string> | undefined;
  readonly excluded: ReadonlySet<string>;
  /** Maximum number of pools on a path; values above three count as three. */
  readonly maxHops: number;
  /**
   * Also asks external services; otherwise they are asked only when no pool has an answer, because they are
   * slow.
   */
  readonly external: boolean;
  /**
   * The client's slippage, bps, for sources whose answers are bounds. Absent: the source chooses, as it does
   * on EVM chains.
   */
  readonly slippageBps?: number | undefined;
}

/** One way to swap, at the newest known state of its pools. */
export interface SwapAnswer {
  /** Name of the source. */
  readonly source: string;
  /** Tokens in order, including both ends. */
  readonly path: readonly Address[];
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  /**
   * What the same input would buy at the price of the smallest trade, after pool fees: the difference from
   * `amountOut` is the price impact.
   */
  readonly spotOut: bigint;
  /** Gas units of the swap itself. */
  readonly gas: bigint;
  /**
   * How far the output may be expected to move before the transaction is mined, bps: from the depth of the
   * pools and their recent moves.
   */
  readonly slippageBps: number;
  /** Block of this state; undefined for an answer of an external service. */
  readonly blockNumber: bigint | undefined;
  /**
   * Calls that the holder of the input makes in order: approval and swap, without a remaining approval.
   * `exactIn` spends the whole input for at least `limit` of the output; `exactOut` gets exactly the output
   * for at most `limit` of the input.
   */
  calls(bound: SwapBound): readonly CallPlan[];
  /**
   * Where users swap by instructions (Solana), those of this answer for a user: not trusted. The user's
   * transaction takes at most `amountIn` and deposits exactly `amountOut`. Absent: `calls` makes the swap.
   * @throws ServiceError SERVICE_UNAVAILABLE
   */
  propose?(user: Hex): Promise<ProposedSwap>;
}

export interface SwapBound {
  readonly kind: "exactIn" | "exactOut";
  /** Minimum output or maximum input, base units. */
  readonly limit: bigint;
  readonly recipient: Address;
}

/**
 * Where tokens can be swapped. Cached pools answer synchronously until a newer block arrives. Both functions
 * are monotonic in the amount.
 * @throws ServiceError RPC_HTTP_ERROR, SERVICE_UNAVAILABLE when a source failed and no other has an answer
 */
export interface LiquiditySource {
  /** Source names that quotes on this chain may use. */
  sources(chainId: number): readonly string[];
  /** The best output for this input; undefined: no path, or insufficient liquidity. */
  exactIn(question: SwapQuestion, amountIn: bigint): MaybePromise<SwapAnswer | undefined>;
  /** The lowest input for this output; undefined: as above. */
  exactOut(question: SwapQuestion, amountOut: bigint): MaybePromise<SwapAnswer | undefined>;
}

/**
 * The pools' price of a token without a price source: USD per whole unit with 18 decimals, over the deepest
 * path to a priced token. Reads only the cache, so the first call for a token returns undefined. Pools can be
 * moved: use it for display, never for payments.
 */
export type PoolUsd = (
  token: Pick<Currency, "chainId" | "address" | "decimals">,
  /** Ignores shallower pools, USD with 18 decimals. Default 1,000 USD. */
  minDepthUsd?: bigint,
) => bigint | undefined;
