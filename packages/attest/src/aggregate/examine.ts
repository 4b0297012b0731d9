import { parseAddress } from "@causeway/domain";
import type { Address, Hex, Hex32 } from "@causeway/domain";
import { sha256, stringToBytes } from "viem";
import type { AttestationRoute, ClaimedSignature, SignatureSlot } from "./attestation-route.ts";
import { canonicalJson } from "./canonical-json.ts";

/** The source of an answer: this oracle, or the peer at this index of the list. */
export type AnswerSource = "local" | number;

/** One answer as received. Every source gives at most one. */
export interface Arrival<Answer> {
  readonly source: AnswerSource;
  readonly answer: Answer;
}

/** Which signers count, and how many are enough to answer without waiting for the rest. */
export interface QuorumPolicy {
  /** Lower case. Undefined: every signer of what this oracle signs counts, and there is no early answer. */
  readonly signers: ReadonlySet<Address> | undefined;
  /** At least 1; ignored without `signers`. */
  readonly threshold: number;
  /** The only signer accepted in this oracle's own answer. Lower case. */
  readonly localSigner: Address;
}

/**
 * The signer of this signature; undefined unless it is one canonical signature (65 bytes, lower-case hex, v
 * 27 or 28, low s). Must never throw.
 */
export type RecoverSigner = (digest: Hex32, signature: string) => Address | undefined;

/** An answer with its recovered signers. */
export interface Examined<Answer> extends Arrival<Answer> {
  /**
   * Answers with the same key may be combined: same unsigned payload, same signing domains, arrays in the
   * same order.
   */
  readonly key: Hex32;
  /** For each slot, the first signature of each recovered signer. */
  readonly slots: readonly ReadonlyMap<Address, Hex>[];
  readonly refused: readonly RefusedSignature[];
}

/** A signature that does not count. */
export interface RefusedSignature {
  readonly slot: number;
  /** The claimed signer, truncated to the length of an address: it is untrusted text. */
  readonly claimedSigner: string;
  /**
   * `wrongSigner`: the claimed signer did not sign this payload and domain. `unknownSigner`: not on the list.
   * `tooMany`: not checked.
   */
  readonly reason: "wrongSigner" | "unknownSigner" | "tooMany";
}

/** Limits the recoveries that a peer can cause; no oracle needs to forward more signatures. */
const MAX_SIGNATURES_PER_SLOT = 64;
/**
 * Maximum recoveries per peer answer; as many as its slots if those are more, because an honest peer signs
 * every slot.
 */
const MAX_RECOVERIES_PER_ANSWER = 256;

/**
 * Recovers who signed an answer. Claims are not trusted: each signature is recovered over the digest that
 * this oracle computes from the payload, and must match its claimed signer.
 * @throws what `route` throws for an answer that it cannot describe
 */
export function examine<Answer>(
  { source, answer }: Arrival<Answer>,
  route: AttestationRoute<Answer>,
  policy: QuorumPolicy,
  recover: RecoverSigner,
): Examined<Answer> {
  const slots = route.slots(answer);
  const mayCount = (signer: Address): boolean =>
    (policy.signers?.has(signer) ?? true) && (source !== "local" || signer === policy.localSigner);
  const refused: RefusedSignature[] = [];
  let remaining = source === "local" ? Infinity : Math.max(MAX_RECOVERIES_PER_ANSWER, slots.length);
  const recoverCounted: RecoverSigner = (digest, signature) => {
    remaining--;
    return recover(digest, signature);
  };
  const signed = slots.map(({ digest, signatures }, slot) => {
    const bySigner = new Map<Address, Hex>();
    for (const [index, claim] of signatures.entries()) {
      const verdict =
        index < MAX_SIGNATURES_PER_SLOT && remaining > 0
          ? judge(claim, digest, mayCount, recoverCounted)
          : ("tooMany" as const);
      if (typeof verdict === "string")
        refused.push({ slot, claimedSigner: claim.signer.slice(0, 42), reason: verdict });
      else if (!bySigner.has(verdict.signer)) bySigner.set(verdict.signer, verdict.signature);
    }
    return bySigner;
  });
  return { source, answer, key: keyOf(route.unsigned(answer), slots), slots: signed, refused };
}

function judge(
  claim: ClaimedSignature,
  digest: Hex32,
  mayCount: (signer: Address) => boolean,
  recover: RecoverSigner,
): { readonly signer: Address; readonly signature: Hex } | "wrongSigner" | "unknownSigner" {
  const claimed = parseAddress(claim.signer);
  if (claimed === undefined) return "wrongSigner";
  // Check before the expensive recovery: unknown signers must not cause work.
  if (!mayCount(claimed)) return "unknownSigner";
  const signer = recover(digest, claim.signature)?.toLowerCase();
  // A recoverable signature is canonical hex, so its text may be passed on.
  return signer === claimed ? { signer: claimed, signature: claim.signature as Hex } : "wrongSigner";
}

function keyOf(unsigned: unknown, slots: readonly SignatureSlot[]): Hex32 {
  // The payload determines the digests. They are included anyway, so that signatures over different bytes
  // never mix even if a route omits a field.
  const signed = slots.map(({ domain, digest }) => [domain, digest]);
  return sha256(stringToBytes(canonicalJson([unsigned, signed])));
}
