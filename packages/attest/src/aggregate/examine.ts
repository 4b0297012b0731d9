import { parseAddress } from "@causeway/domain";
import type { Address, Hex, Hex32 } from "@causeway/domain";
import { sha256, stringToBytes } from "viem";
import type { AttestationRoute, ClaimedSignature, SignatureSlot } from "./attestation-route.ts";
import { canonicalJson } from "./canonical-json.ts";

/** Who gave an answer: this oracle, or the peer at this place of the list. */
export type AnswerSource = "local" | number;

/** One answer, as it came in. Every source gives one answer at most. */
export interface Arrival<Answer> {
  readonly source: AnswerSource;
  readonly answer: Answer;
}

/** Whose signatures count, and how many are enough to answer early. */
export interface QuorumPolicy {
  /** Lower case. Undefined: whoever signed what this oracle signs counts, and nothing is answered early. */
  readonly signers: ReadonlySet<Address> | undefined;
  /** At least 1; without meaning when there are no `signers`. */
  readonly threshold: number;
  /** The only signer that an answer of this oracle is believed to carry. Lower case. */
  readonly localSigner: Address;
}

/**
 * Who made this signature; undefined when it is not one canonical signature (65 bytes, lower-case hex, v 27
 * or 28, low s). Must never throw.
 */
export type RecoverSigner = (digest: Hex32, signature: string) => Address | undefined;

/** An answer of which it is known who signed what. */
export interface Examined<Answer> extends Arrival<Answer> {
  /**
   * Answers with the same key may be combined: same unsigned payload, same signing domains, arrays in the
   * same order.
   */
  readonly key: Hex32;
  /** For each slot, who truly signed it and how; the first of a signer's signatures. */
  readonly slots: readonly ReadonlyMap<Address, Hex>[];
  readonly refused: readonly RefusedSignature[];
}

/** A signature that counts for nothing. */
export interface RefusedSignature {
  readonly slot: number;
  /** As it was claimed, cut to the length of an address: it is foreign text. */
  readonly claimedSigner: string;
  /**
   * `notTheirs`: the claimed signer did not make it over this payload and domain. `stranger`: not on the
   * list. `tooMany`: not looked at.
   */
  readonly reason: "notTheirs" | "stranger" | "tooMany";
}

/** Recovering costs time, and a peer says how much is to be recovered: no oracle needs to pass on more. */
const MAX_SIGNATURES_PER_SLOT = 64;
/**
 * For a whole answer of a peer; more where it has more slots, because an honest one holds its own signature
 * in each.
 */
const MAX_RECOVERIES_PER_ANSWER = 256;

/**
 * Finds out who signed an answer. Believes no claim: each signature is recovered over the digest that this
 * oracle itself makes of the payload, and must lead to the address that is said to have made it.
 * @throws what `route` throws for an answer that it cannot describe.
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
  let left = source === "local" ? Infinity : Math.max(MAX_RECOVERIES_PER_ANSWER, slots.length);
  const counted: RecoverSigner = (digest, signature) => {
    left--;
    return recover(digest, signature);
  };
  const signed = slots.map(({ digest, signatures }, slot) => {
    const bySigner = new Map<Address, Hex>();
    for (const [index, claim] of signatures.entries()) {
      const verdict =
        index < MAX_SIGNATURES_PER_SLOT && left > 0
          ? judge(claim, digest, mayCount, counted)
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
): { readonly signer: Address; readonly signature: Hex } | "notTheirs" | "stranger" {
  const claimed = parseAddress(claim.signer);
  if (claimed === undefined) return "notTheirs";
  // Before the recovery, which is dear: strangers cannot make us work.
  if (!mayCount(claimed)) return "stranger";
  const signer = recover(digest, claim.signature)?.toLowerCase();
  // What recovers is canonical hex, so the text may be passed on.
  return signer === claimed ? { signer: claimed, signature: claim.signature as Hex } : "notTheirs";
}

function keyOf(unsigned: unknown, slots: readonly SignatureSlot[]): Hex32 {
  // The digests follow from the payload. They are here all the same: whatever a route forgets to name,
  // signatures over different bytes never mix.
  const signed = slots.map(({ domain, digest }) => [domain, digest]);
  return sha256(stringToBytes(canonicalJson([unsigned, signed])));
}
