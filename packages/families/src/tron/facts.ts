import type { Address } from "@causeway/domain";

/**
 * Facts of Tron chains only. A block is final when the network marks it as solidified; this is not
 * configurable.
 */
export interface TronFacts {
  /** The expected answer to `eth_chainId`: the last four bytes of the first block's id. */
  readonly chainId: number;
  /** Nominal seconds between blocks, for `retryAfter`. */
  readonly blockTimeSeconds: number;
  /**
   * Contracts whose events may prove payments and calls of a solver, as 20-byte addresses of the virtual
   * machine.
   */
  readonly fillContracts: readonly Address[];
  /** Sent with every request as `TRON-PRO-API-KEY`; a secret. */
  readonly apiKey: string | undefined;
}
