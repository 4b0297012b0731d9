import type { Hex32 } from "@causeway/domain";

/**
 * What aggregation must know of one route's answers; everything else of them is opaque. All functions are
 * pure and total over parsed answers. An answer carries one or more slots: things that are signed (each
 * message, the execution). A signer counts when it signed every slot.
 */
export interface AttestationRoute<Answer> {
  /** Path below a peer's base URL, e.g. `/attestations/solver-fills/v1`. */
  readonly path: string;
  /** A peer's answer by the route's strict schema; undefined when it is none. Unknown fields are dropped. */
  parse(json: unknown): Answer | undefined;
  /**
   * The canonical unsigned payload as plain JSON: hex lower-case, integers canonical decimals, arrays in
   * order, neither signatures nor what is not signed. Equal payloads may be combined.
   */
  unsigned(answer: Answer): unknown;
  /**
   * In a fixed order; empty when the answer says that there is nothing to sign. Digests are computed here,
   * from the answer's payload and our own domain.
   */
  slots(answer: Answer): readonly SignatureSlot[];
  /** The same answer with these signatures instead of its own, one list per slot. */
  withSignatures(answer: Answer, slots: readonly (readonly ClaimedSignature[])[]): Answer;
}

export interface SignatureSlot {
  readonly digest: Hex32;
  /**
   * Which domain the answer claims to have signed for (chain id and contract); part of what must match. Empty
   * where there is none.
   */
  readonly domain: string;
  readonly signatures: readonly ClaimedSignature[];
}

/**
 * A signature with the address that is said to have made it. Nothing is believed before the address was
 * recovered.
 */
export interface ClaimedSignature {
  readonly signer: string;
  readonly signature: string;
}
