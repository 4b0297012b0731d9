import { familyIdOf, type FamilyId } from "@causeway/domain";
import type { ConfiguredChain, EvidenceSource, NonceMappings } from "@causeway/families";
import type { SourceOptions } from "./evidence-source.ts";
import { evmEvidence, type EvmEvidenceOptions } from "./evm/evidence.ts";

/** What all families are given. */
export interface EvidenceOptions extends SourceOptions {
  readonly evm?: Pick<EvmEvidenceOptions, "rpc">;
  /** What the hub says of nonces. Without it a transfer of Hyperliquid is for no order. */
  readonly nonceMappings?: NonceMappings;
}

type SourceOf = (chain: ConfiguredChain, options: EvidenceOptions) => EvidenceSource;

/** How each family is loaded: its libraries are read when a chain of it is configured, and not before. */
const SOURCES: Readonly<Record<FamilyId, () => Promise<SourceOf> | SourceOf>> = {
  evm: () => (chain, options) => evmEvidence(chain, { ...options, ...options.evm }),
  solana: async () => (await import("./solana/evidence.ts")).solanaEvidence,
  bitcoin: async () => (await import("./bitcoin/evidence.ts")).bitcoinEvidence,
  hyperliquid: async () => (await import("./hyperliquid/evidence.ts")).hyperliquidEvidence,
  lighter: async () => (await import("./lighter/evidence.ts")).lighterEvidence,
  tron: async () => (await import("./tron/evidence.ts")).tronEvidence,
};

/**
 * A source for each configured chain, by its name. Nothing is asked of any chain yet.
 * @throws RangeError for a name that comes twice, facts of another family, or endpoints that cannot agree: at
 * startup, not at the first request
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
