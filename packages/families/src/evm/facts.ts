import type { Address, EvmFinality } from "@causeway/domain";

/** Configuration of EVM chains only. */
export interface EvmFacts {
  /** The expected answer to `eth_chainId`. */
  readonly chainId: number;
  readonly finality: EvmFinality;
  /** Nominal seconds between blocks, for `retryAfter`. */
  readonly blockTimeSeconds: number;
  /**
   * Contracts whose events may prove payments and calls of a solver. An order's `extraData` must name one of
   * them.
   */
  readonly fillContracts: readonly Address[];
  /** Whether native transfers emit Transfer events of the contract `0x…800a`. */
  readonly isZksyncStack: boolean;
}
