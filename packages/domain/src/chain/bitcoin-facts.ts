import type { BitcoinNetwork } from "../address/bitcoin.ts";

/** What an oracle knows only of Bitcoin. */
export interface BitcoinAttestationFacts {
  /** Whose first block the node must have. */
  readonly network: BitcoinNetwork;
  /**
   * Blocks that must say so before a transaction counts, its own among them: for deposits, payments and
   * spends alike. At least 1.
   */
  readonly confirmations: number;
  /** Nominal seconds between blocks: for `retryAfter`. */
  readonly blockTimeSeconds: number;
  /**
   * Base URL of an explorer with Esplora's REST interface, which may carry credentials: it says what spent an
   * output, and is believed in nothing else. Undefined: a withdrawal is known to be executed only when its
   * transaction is named or can be computed, and never to be impossible.
   */
  readonly esploraUrl: string | undefined;
}
