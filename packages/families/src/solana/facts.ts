/**
 * Configuration of Solana clusters only. The cluster's own finality applies and is not configurable.
 */
export interface SolanaFacts {
  /**
   * base58 hash of the cluster's first block, which every endpoint must report. Undefined: not checked, so an
   * endpoint of another cluster would be trusted.
   */
  readonly genesisHash: string | undefined;
}
