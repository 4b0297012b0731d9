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
  /** Names of sources that may be used. Undefined: all sources that are not excluded. */
  readonly included: ReadonlySet<string> | undefined;
  readonly excluded: ReadonlySet<string>;
  /** Maximum number of pools on a path; values above three count as three. */
  readonly maxHops: number;
  /**
   * Whether external services are always queried too. Otherwise they are queried only when no pool has an
   * answer, because they are slow.
   */
  readonly shouldQueryExternal: boolean;
  /**
   * The client's slippage, bps, for sources that return bounds. Absent: the source chooses, as it always does
   * on EVM chains.
   */
  readonly slippageBps?: number | undefined;
}

/** A possible swap, at the newest known state of its pools. */
export interface SwapAnswer {
  /** Name of the source. */
  readonly source: string;
  /** All tokens of the path in order, including input and output. */
  readonly path: readonly Address[];
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  /**
   * The output of the same input at the price of the smallest trade, after pool fees. The difference from
   * `amountOut` is the price impact.
   */
  readonly spotOut: bigint;
  /** Gas units of the swap itself. */
  readonly gas: bigint;
  /**
   * How far the output may fall before the transaction is mined, bps: estimated from the depth of the pools
   * and their recent price moves.
   */
  readonly slippageBps: number;
  /** Block at which the pools were read. Undefined for an answer of an external service. */
  readonly blockNumber: bigint | undefined;
  /**
   * Calls that the holder of the input makes in order: approval and swap, without a remaining approval.
   * `exactIn` spends the whole input for at least `limit` of the output; `exactOut` gets exactly the output
   * for at most `limit` of the input.
   */
  calls(bound: SwapBound): readonly CallPlan[];
  /**
   * The instructions of this swap for a user, on chains with instructions (Solana). They are not trusted. The
   * user's transaction takes at most `amountIn` and deposits exactly `amountOut`. Absent: `calls` makes the
   * swap.
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
 * A place to swap tokens. Cached pools answer synchronously until a newer block arrives. `exactIn` and
 * `exactOut` are monotonic in the amount.
 * @throws ServiceError RPC_HTTP_ERROR, SERVICE_UNAVAILABLE when a source failed and no other source has an
 * answer
 */
export interface LiquiditySource {
  /** Source names that quotes on this chain may use. */
  sources(chainId: number): readonly string[];
  /** The highest output for this input. Undefined: no path, or insufficient liquidity. */
  exactIn(question: SwapQuestion, amountIn: bigint): MaybePromise<SwapAnswer | undefined>;
  /** The lowest input for this output. Undefined: no path, or insufficient liquidity. */
  exactOut(question: SwapQuestion, amountOut: bigint): MaybePromise<SwapAnswer | undefined>;
}

/**
 * The price of a token by its pools, for tokens without a price source: USD per whole unit with 18 decimals,
 * over the deepest path to a priced token. Reads only the cache, so the first call for a token returns
 * undefined. Anyone can move pools: use the price for display, never for payments.
 */
export type PoolUsd = (
  token: Pick<Currency, "chainId" | "address" | "decimals">,
  /**
   * Minimum depth of the pools behind the price, USD with 18 decimals. Default and lower limit: 1,000 USD.
   */
  minDepthUsd?: bigint,
) => bigint | undefined;
