import type { LighterAttestationFacts } from "@causeway/domain";
import type { AttestationChainEntry } from "./attestation-schema.ts";

/** What is signed on the exchange's main network names it by this number. */
const MAIN_NETWORK = 304;

/** The exchange's part of a chain's entry. */
export function lighterFacts({ additionalData }: AttestationChainEntry): LighterAttestationFacts {
  return {
    explorerApiUrl: additionalData.explorerApiUrl,
    exchangeChainId: BigInt(additionalData.exchangeChainId ?? MAIN_NETWORK),
  };
}
