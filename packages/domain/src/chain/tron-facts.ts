import type { Address } from "../ids/hex.ts";

/**
 * What only Tron chains have. Final is what the network itself calls solidified: nothing about that is
 * configured.
 */
export interface TronAttestationFacts {
  /** What `eth_chainId` must answer: the last four bytes of the first block's id. */
  readonly chainId: number;
  /** Nominal seconds between blocks: for `retryAfter`. */
  readonly blockTimeSeconds: number;
  /**
   * Contracts whose events may prove payments and calls of a solver, as the virtual machine knows them: 20
   * bytes.
   */
  readonly fillContracts: readonly Address[];
  /** Sent with every question as `TRON-PRO-API-KEY`; a secret. */
  readonly apiKey: string | undefined;
}
