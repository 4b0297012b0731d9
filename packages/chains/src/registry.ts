import { familyIdOf, type FamilyId } from "@causeway/domain";
import type { ConfiguredChain, EvidenceSource, NonceMappings } from "@causeway/families";
import type { SourceOptions } from "./evidence-source.ts";
import { evidence } from "./list.ts";

/** Options for all families. */
export interface EvidenceOptions extends SourceOptions {
  /** The hub's nonce mappings. Without them, no Hyperliquid transfer is for an order. */
  readonly nonceMappings?: NonceMappings;
}

type SourceOf = (chain: ConfiguredChain, options: EvidenceOptions) => EvidenceSource;

/** The compiler checks that every family has an entry here. */
const SOURCES: Readonly<Record<FamilyId, () => Promise<SourceOf>>> = evidence;

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
