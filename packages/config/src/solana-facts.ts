import type { SolanaAttestationFacts } from "@causeway/domain";
import type { AttestationChainEntry } from "./attestation-schema.ts";

/** Solana's part of a chain's entry. */
export function solanaFacts({ additionalData }: AttestationChainEntry): SolanaAttestationFacts {
  return { genesisHash: additionalData.genesisHash };
}
