import { familyIdOf, type FamilyId } from "@causeway/domain";
import type { ConfiguredChain, EvidenceSource, NonceMappings } from "@causeway/families";
import type { SourceOptions } from "./evidence-source.ts";
import { evmEvidence, type EvmEvidenceOptions } from "./evm/evidence.ts";

/** Options for all families. */
export interface EvidenceOptions extends SourceOptions {
  readonly evm?: Pick<EvmEvidenceOptions, "rpc">;
  /** The hub's nonce mappings. Without them, no Hyperliquid transfer is for an order. */
  readonly nonceMappings?: NonceMappings;
}

type SourceOf = (chain: ConfiguredChain, options: EvidenceOptions) => EvidenceSource;

/** Loads each family on demand: its libraries are imported only if one of its chains is configured. */
const SOURCES: Readonly<Record<FamilyId, () => Promise<SourceOf> | SourceOf>> = {
  evm: () => (chain, options) => evmEvidence(chain, { ...options, ...options.evm }),
  solana: async () => (await import("./solana/evidence.ts")).solanaEvidence,
  bitcoin: async () => (await import("./bitcoin/evidence.ts")).bitcoinEvidence,
  hyperliquid: async () => (await import("./hyperliquid/evidence.ts")).hyperliquidEvidence,
  lighter: async () => (await import("./lighter/evidence.ts")).lighterEvidence,
  tron: async () => (await import("./tron/evidence.ts")).tronEvidence,
};

/**
 * A source for each configured chain, by name. Does not connect yet.
 * @throws RangeError for a duplicate name, facts of another family, or endpoints that cannot agree
 */
export async function evidenceSources(
  chains: readonly ConfiguredChain[],
  options: EvidenceOptions = {},
): Promise<ReadonlyMap<string, EvidenceSource>> {
  const sources = new Map<string, EvidenceSource>();
  for (const chain of chains) {
    if (sources.has(chain.name)) throw new RangeError(`chain ${chain.name} is configured more than once`);
    const sourceOf = await SOURCES[familyIdOf(chain.vmType)]();
    sources.set(chain.name, sourceOf(chain, options));
  }
  return sources;
}
