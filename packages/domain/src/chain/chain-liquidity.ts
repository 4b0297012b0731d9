import type { Address } from "../ids/hex.ts";

/**
 * The two makes of Uniswap's v3 router take different structs: in `exactInput` and `exactOutput` of
 * `SwapRouter` ("swap-router") a deadline stands after the recipient, `SwapRouter02` ("swap-router-02") has
 * none there, so that the selectors differ too.
 */
export type UniswapV3RouterKind = "swap-router" | "swap-router-02";

/** Pools of one deployment of the Uniswap v3 contracts, and the contracts that trade in them. */
export interface UniswapV3Source {
  readonly kind: "uniswap-v3";
  /** Name in `/swap-sources` and in a quote's `includedSwapSources`. */
  readonly name: string;
  readonly factory: Address;
  readonly router: Address;
  /** Of which make `router` is. */
  readonly routerKind: UniswapV3RouterKind;
  /** `QuoterV2`; asked only to check our own mathematics. */
  readonly quoter: Address;
  /** Hundredths of a bp, e.g. 500, 3000, 10000. */
  readonly feeTiers: readonly number[];
}

/** Pools of one deployment of Uniswap v2-style pairs. */
export interface UniswapV2Source {
  readonly kind: "uniswap-v2";
  readonly name: string;
  readonly factory: Address;
  /**
   * `UniswapV2Router02`, which asks the pairs for their reserves when it trades; undefined: its pairs tell
   * prices, but nothing is traded in them.
   */
  readonly router?: Address;
  /** bps of the input that a pair keeps, e.g. 30. */
  readonly feeBps: number;
}

export type PoolSource = UniswapV3Source | UniswapV2Source;

/** Where a chain's tokens can be exchanged. */
export interface ChainLiquidity {
  /**
   * The token that is the native coin, one for one (`deposit`, `withdraw`); undefined: native coin is not
   * swapped here.
   */
  readonly wrappedNative: Address | undefined;
  /** Tokens that paths may lead through, the likeliest first. */
  readonly connectors: readonly Address[];
  readonly sources: readonly PoolSource[];
}
