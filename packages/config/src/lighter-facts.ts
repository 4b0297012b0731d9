import { parseAddress, type LighterAttestationFacts } from "@causeway/domain";
import type { AttestationChainEntry } from "./attestation-schema.ts";

/** What is signed on the exchange's main network names it by this number. */
const MAIN_NETWORK = 304;

/** The exchange's part of a chain's entry. */
export function lighterFacts({ additionalData }: AttestationChainEntry): LighterAttestationFacts {
  const { explorerApiUrl, exchangeChainId = MAIN_NETWORK, exchangeContract } = additionalData;
  return {
    explorerApiUrl,
    exchangeChainId: BigInt(exchangeChainId),
    exchangeContract: exchangeContract === undefined ? undefined : parseAddress(exchangeContract),
  };
}
