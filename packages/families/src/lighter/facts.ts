import type { Address } from "@causeway/domain";

/** Configuration of Lighter only. */
export interface LighterFacts {
  /**
   * Base URL of the explorer's API, which lists transfers of a depository. Undefined: only transactions whose
   * hash the caller provides can be found.
   */
  readonly explorerApiUrl: string | undefined;
  /** Lighter's chain id in signatures of its users: 304 is mainnet. */
  readonly exchangeChainId: bigint;
  /**
   * Lighter's contract on Ethereum, which every endpoint must report. Absent: not checked, so an endpoint of
   * another network would be trusted.
   */
  readonly exchangeContract?: Address | undefined;
}
