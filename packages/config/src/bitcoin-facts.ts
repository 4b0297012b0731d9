import type { BitcoinAttestationFacts } from "@causeway/domain";
import type { AttestationChainEntry } from "./attestation-schema.ts";

/** What auditors ask for, and what makes a double payment cost more than it brings. */
export const DEFAULT_CONFIRMATIONS = 6;
/** The network aims at ten minutes. */
const BLOCK_TIME_SECONDS = 600;

/** Bitcoin's part of a chain's entry. `problems` gets what is wrong with it. */
export function bitcoinFacts(
  { additionalData, blockTimeSeconds = BLOCK_TIME_SECONDS }: AttestationChainEntry,
  place: string,
  problems: string[],
): BitcoinAttestationFacts {
  const { finalizationBlocks: confirmations = DEFAULT_CONFIRMATIONS } = additionalData;
  // 0 would believe what only waits, which its sender can replace.
  if (confirmations < 1) problems.push(`${place}.additionalData.finalizationBlocks: must be at least 1`);
  return {
    network: additionalData.bitcoinNetwork,
    confirmations,
    blockTimeSeconds,
    esploraUrl: additionalData.esploraCompatibleApiUrl,
  };
}
