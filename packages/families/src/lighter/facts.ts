import type { Address } from "@causeway/domain";

/** What is configured for Lighter only. */
export interface LighterFacts {
  /**
   * Base URL of the explorer's API, which lists transfers of a depository. Undefined: only transactions that
   * a caller names can be found.
   */
  readonly explorerApiUrl: string | undefined;
  /** Lighter's chain id in signatures of its users: 304 is mainnet. */
  readonly exchangeChainId: bigint;
  /**
   * Its contract on Ethereum, which every endpoint must report. Absent: not checked, so an endpoint of
   * another network would be trusted.
   */
  readonly exchangeContract?: Address | undefined;
}
