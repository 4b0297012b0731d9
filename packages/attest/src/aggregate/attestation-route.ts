import type { Hex32 } from "@causeway/domain";

/**
 * How aggregation reads one route's answers, which are otherwise opaque. All functions are pure and total
 * over parsed answers. An answer has slots that are signed: each message, and the execution. A signer counts
 * if it signed every slot.
 */
export interface AttestationRoute<Answer> {
  /** Path below a peer's base URL, e.g. `/attestations/solver-fills/v1`. */
  readonly path: string;
  /**
   * A peer's answer parsed by the route's strict schema; undefined if invalid. Unknown fields are dropped.
   */
  parse(json: unknown): Answer | undefined;
  /**
   * The canonical unsigned payload as plain JSON: hex lower-case, integers canonical decimals, arrays in
   * order, without signatures and unsigned fields. Answers with equal payloads may be combined.
   */
  unsigned(answer: Answer): unknown;
  /**
   * The answer's slots in a fixed order; empty if there is nothing to sign. Digests are computed here, from
   * the answer's payload and our own domain.
   */
  slots(answer: Answer): readonly SignatureSlot[];
  /** The same answer with these signatures instead of its own, one list per slot. */
  withSignatures(answer: Answer, slots: readonly (readonly ClaimedSignature[])[]): Answer;
}

export interface SignatureSlot {
  readonly digest: Hex32;
  /**
   * The domain (chain id and contract) that the answer claims to have signed for; it must match. Empty if
   * there is none.
   */
  readonly domain: string;
  readonly signatures: readonly ClaimedSignature[];
}

/** A signature and its claimed signer, untrusted until the address is recovered. */
export interface ClaimedSignature {
  readonly signer: string;
  readonly signature: string;
}
