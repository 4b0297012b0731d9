import type { EvidenceSource } from "@causeway/chains";
import type { ConfiguredChain } from "@causeway/families";

/** A configured chain and the source of its evidence. */
export interface AttestedChain {
  readonly chain: ConfiguredChain;
  /** Undefined: this build cannot read the chain's family. */
  readonly evidence: EvidenceSource | undefined;
  /** When a node last answered, ms since the Unix epoch. Undefined: not since this process started. */
  readonly lastAnswerMs?: () => number | undefined;
}

/** All enabled chains by name. */
export type AttestedChains = ReadonlyMap<string, AttestedChain>;
