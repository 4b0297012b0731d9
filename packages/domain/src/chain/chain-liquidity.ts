import type { Address } from "../ids/hex.ts";

/**
 * The version of Uniswap's v3 router. In `SwapRouter` ("swap-router"), `exactInput` and `exactOutput` take a
 * deadline after the recipient; in `SwapRouter02` ("swap-router-02") they do not, so the selectors differ.
 */
export type UniswapV3RouterKind = "swap-router" | "swap-router-02";

/** The pools of one Uniswap v3 deployment, and the contracts that trade in them. */
export interface UniswapV3Source {
  readonly kind: "uniswap-v3";
  /** Name in `/swap-sources` and in a quote's `includedSwapSources`. */
  readonly name: string;
  readonly factory: Address;
  readonly router: Address;
  /** The version of `router`. */
  readonly routerKind: UniswapV3RouterKind;
  /** `QuoterV2`; called only to verify our own computation. */
  readonly quoter: Address;
  /** Hundredths of a bp, e.g. 500, 3000, 10000. */
  readonly feeTiers: readonly number[];
}

/** The pools of one deployment of Uniswap v2-style pairs. */
export interface UniswapV2Source {
  readonly kind: "uniswap-v2";
  readonly name: string;
  readonly factory: Address;
  /**
   * `UniswapV2Router02`, which reads the pairs' reserves when it trades. Absent: the pairs are only a price
   * source.
   */
  readonly router?: Address;
  /** Fee in bps of the input, e.g. 30. */
  readonly feeBps: number;
}

export type PoolSource = UniswapV3Source | UniswapV2Source;

/** Where a chain's tokens can be swapped. */
export interface ChainLiquidity {
  /**
   * The wrapped native token (`deposit`, `withdraw`). Undefined: the native token is not swapped on this
   * chain.
   */
  readonly wrappedNative: Address | undefined;
  /** Intermediate tokens of swap paths, the most likely first. */
  readonly connectors: readonly Address[];
  readonly sources: readonly PoolSource[];
}
