import type { Address } from "../ids/hex.ts";

/** What an oracle knows only of the order-book exchange. */
export interface LighterAttestationFacts {
  /**
   * Base URL of the explorer's API, where the transfers of a depository are listed; undefined: only
   * transactions that a caller names can be found.
   */
  readonly explorerApiUrl: string | undefined;
  /** The number that stands for this exchange in what its users sign: 304 is its main network. */
  readonly exchangeChainId: bigint;
  /**
   * Its contract on Ethereum, which every endpoint must name; undefined: it is not asked, and an endpoint of
   * another network would be believed.
   */
  readonly exchangeContract?: Address | undefined;
}
