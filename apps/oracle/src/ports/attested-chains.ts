import type { EvidenceSource } from "@causeway/chains";
import type { AttestationChain } from "@causeway/domain";

/** A chain of the configuration, and where its evidence comes from. */
export interface AttestedChain {
  readonly chain: AttestationChain;
  /** Undefined: this build cannot read the family of the chain. */
  readonly evidence: EvidenceSource | undefined;
  /**
   * When a node of the chain last answered anything, ms since the Unix epoch; undefined: not since the start.
   */
  readonly lastAnswerMs?: () => number | undefined;
}

/** All enabled chains by name. */
export type AttestedChains = ReadonlyMap<string, AttestedChain>;
