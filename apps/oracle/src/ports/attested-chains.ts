import type { EvidenceSource } from "@causeway/chains";
import type { ConfiguredChain } from "@causeway/families";

/** A configured chain and the source of its evidence. */
export interface AttestedChain {
  readonly chain: ConfiguredChain;
  /** Undefined: this build cannot read the chain's family. */
  readonly evidence: EvidenceSource | undefined;
  /** When a node of the chain last answered, ms since the Unix epoch. Undefined: not since the start. */
  readonly lastAnswerMs?: () => number | undefined;
}

/** All enabled chains by name. */
export type AttestedChains = ReadonlyMap<string, AttestedChain>;
