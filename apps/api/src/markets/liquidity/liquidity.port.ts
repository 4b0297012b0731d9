import type { CallPlan } from "@causeway/chains";
import type { MaybePromise } from "@causeway/domain";
import type { Address, Currency } from "@causeway/domain";

/**
 * An exchange of one token for another on one chain. Native coin is its wrapped token here: wrapping is the
 * caller's.
 */
export interface SwapQuestion {
  readonly chainId: number;
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  /** Names of sources that may be used; undefined = all but the excluded ones. */
  readonly included: ReadonlySet<string> | undefined;
  readonly excluded: ReadonlySet<string>;
  /** Pools that a path may lead through at most; more than three are taken as three. */
  readonly maxHops: number;
  /** Services of others are asked as well; otherwise only when no pool has an answer, as they answer late. */
  readonly external: boolean;
}

/** One way to make an exchange, at the newest known state of its pools. */
export interface SwapAnswer {
  /** Name of the source. */
  readonly source: string;
  /** Tokens in order, the two ends included. */
  readonly path: readonly Address[];
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  /**
   * What the same input would buy at the price of the smallest trade, its pool fees paid: the difference to
   * `amountOut` is the impact.
   */
  readonly spotOut: bigint;
  /** Gas units of the exchange itself. */
  readonly gas: bigint;
  /**
   * How far the output may be expected to move before the transaction is mined, bps: from the depth of the
   * pools and how they moved lately.
   */
  readonly slippageBps: number;
  /** Block whose state this is; undefined when a service of others answered. */
  readonly blockNumber: bigint | undefined;
  /**
   * Calls for whoever holds the input, and makes them in his own name, in order: allowance and exchange, no
   * allowance left over. `exactIn` spends all of the input for at least `limit` of the output; `exactOut`
   * gets exactly the output for at most `limit` of the input.
   */
  calls(bound: SwapBound): readonly CallPlan[];
}

export interface SwapBound {
  readonly kind: "exactIn" | "exactOut";
  /** Least output, or most input, smallest units. */
  readonly limit: bigint;
  /** Receives the output. */
  readonly recipient: Address;
}

/**
 * Where tokens can be exchanged. Pools kept in memory answer synchronously while no block has come since they
 * were read; both functions never fall when the amount grows.
 * @throws ServiceError RPC_HTTP_ERROR, SERVICE_UNAVAILABLE when a source did not answer and no other has an
 * answer
 */
export interface LiquiditySource {
  /** Names that this chain's quotes may name. */
  sources(chainId: number): readonly string[];
  /** The best output for this input; undefined: no way is known, or the pools do not bear it. */
  exactIn(question: SwapQuestion, amountIn: bigint): MaybePromise<SwapAnswer | undefined>;
  /** The least input for this output; undefined likewise. */
  exactOut(question: SwapQuestion, amountOut: bigint): MaybePromise<SwapAnswer | undefined>;
}

/**
 * What a token is worth by its pools, for tokens that no source of prices knows: USD per whole unit with 18
 * decimals, by the deepest way to a token with a price. Read from memory, so that the first question of a
 * token has no answer yet. Whoever moves a pool moves this: it is good for what is shown, never for what is
 * paid.
 */
export type PoolUsd = (
  token: Pick<Currency, "chainId" | "address" | "decimals">,
  /** Shallower pools say nothing, USD with 18 decimals. Default 1,000 USD. */
  minDepthUsd?: bigint,
) => bigint | undefined;
