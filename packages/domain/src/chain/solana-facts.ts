/**
 * What an oracle knows only of Solana clusters. Final is what the cluster itself calls finalized: nothing
 * about that is configured.
 */
export interface SolanaAttestationFacts {
  /**
   * base58 of the hash of the cluster's first block, which every endpoint must name; undefined: it is not
   * asked, and an endpoint of another cluster would be believed.
   */
  readonly genesisHash: string | undefined;
}
