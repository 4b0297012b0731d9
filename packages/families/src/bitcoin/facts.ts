import type { BitcoinNetwork } from "@causeway/domain";

/**
 * Nodes accept headers up to two hours ahead, and earlier than their parents: miners choose freely within
 * that.
 */
export const HEADER_SKEW_SECONDS = 7_200;

/** What is configured for Bitcoin only. */
export interface BitcoinFacts {
  /** The node must have this network's first block. */
  readonly network: BitcoinNetwork;
  /**
   * Blocks, including its own, before a transaction counts: for deposits, payments and spends alike. At least
   * 1.
   */
  readonly confirmations: number;
  /** Nominal seconds between blocks, for `retryAfter`. */
  readonly blockTimeSeconds: number;
  /**
   * Base URL of an explorer with Esplora's REST API, which may contain credentials. It only suggests what
   * spent an output; the node verifies it. Undefined: an executed withdrawal is only found if its transaction
   * is named or can be computed, and an impossible one is never recognized.
   */
  readonly esploraUrl: string | undefined;
}
