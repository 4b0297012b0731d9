import type { BitcoinNetwork } from "@causeway/domain";

/**
 * Nodes accept headers up to two hours ahead, and earlier than their parents: within these limits, miners
 * choose the time.
 */
export const HEADER_SKEW_SECONDS = 7_200;

/** Configuration of Bitcoin only. */
export interface BitcoinFacts {
  /** The node must have this network's first block. */
  readonly network: BitcoinNetwork;
  /**
   * Blocks, including its own, before a transaction counts as a deposit, payment or spend. At least 1.
   */
  readonly confirmations: number;
  /** Nominal seconds between blocks, for `retryAfter`. */
  readonly blockTimeSeconds: number;
  /**
   * Base URL of an explorer with Esplora's REST API; may contain credentials. The explorer only suggests
   * which transaction spent an output, and the node verifies it. Undefined: an executed withdrawal is found
   * only if its transaction id is provided or computable, and an impossible one is never recognized.
   */
  readonly esploraUrl: string | undefined;
}
