import type { AttestationChain } from "@causeway/domain";
import type { EvidenceSource } from "./evidence.ts";
import { evmEvidence, type EvmEvidenceOptions } from "./evm/evidence.ts";

/** Settings of each family's sources. */
export interface EvidenceOptions {
  readonly evm?: EvmEvidenceOptions;
}

/**
 * A source for each configured chain, by its name. Nothing is asked of any chain yet.
 *
 * @throws RangeError for a name that comes twice, and for a family that is not supported: at startup, not at the first request about it
 */
export function evidenceSources(
  chains: readonly AttestationChain[],
  options: EvidenceOptions = {},
): ReadonlyMap<string, EvidenceSource> {
  const sources = new Map<string, EvidenceSource>();
  for (const chain of chains) {
    if (sources.has(chain.name)) throw new RangeError(`chain ${chain.name} is configured twice`);
    sources.set(chain.name, sourceOf(chain, options));
  }
  return sources;
}

function sourceOf(chain: AttestationChain, options: EvidenceOptions): EvidenceSource {
  switch (chain.vmType) {
    case "ethereum-vm":
      return evmEvidence(chain, options.evm);
    case "solana-vm":
    case "bitcoin-vm":
    case "hyperliquid-vm":
    case "lighter-vm":
    case "tron-vm":
      throw new RangeError(`chain ${chain.name}: family ${chain.vmType} is not supported yet`);
    default:
      return chain.vmType satisfies never;
  }
}
