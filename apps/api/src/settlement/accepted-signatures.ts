import { recoverSigner } from "@causeway/attest";
import type { Address, Hex, Hex32 } from "@causeway/domain";

/** A digest that was computed here, never taken from an oracle, and its signatures in an oracle's answer. */
export interface SignedDigest {
  readonly digest: Hex32;
  readonly signatures: readonly string[];
}

/** Bounds the work for one message; no quorum needs more. */
const MAX_SIGNATURES = 64;

/**
 * Accepted signers that signed every digest, ascending, each with its signature of `target`, which is one of
 * `digests`. Signers are recovered from signatures; the names in an answer are ignored.
 */
export function acceptedSignatures(
  digests: readonly SignedDigest[],
  target: SignedDigest,
  accepted: ReadonlySet<Address>,
): readonly { readonly signer: Address; readonly signature: Hex }[] {
  const signersByDigest = new Map(digests.map((digest) => [digest, signersOf(digest, accepted)]));
  const targetSigners = signersByDigest.get(target);
  if (targetSigners === undefined)
    throw new Error("invariant violated: the target is not one of the digests");
  return [...targetSigners]
    .filter(([signer]) => [...signersByDigest.values()].every((signers) => signers.has(signer)))
    .map(([signer, signature]) => ({ signer, signature }))
    .toSorted((a, b) => (a.signer < b.signer ? -1 : 1));
}

function signersOf({ digest, signatures }: SignedDigest, accepted: ReadonlySet<Address>): Map<Address, Hex> {
  const signatureBySigner = new Map<Address, Hex>();
  for (const text of signatures.slice(0, MAX_SIGNATURES)) {
    const signature = text.toLowerCase() as Hex;
    const signer = recoverSigner(digest, signature);
    if (signer !== undefined && accepted.has(signer) && !signatureBySigner.has(signer))
      signatureBySigner.set(signer, signature);
  }
  return signatureBySigner;
}
