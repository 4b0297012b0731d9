import { recoverSigner } from "@causeway/attest";
import type { Address, Hex, Hex32 } from "@causeway/domain";

/** A digest, computed here and never taken from an oracle, and the signatures of it in an answer. */
export interface Slot {
  readonly digest: Hex32;
  readonly signatures: readonly string[];
}

/** Bounds the work for one message; no quorum needs more. */
const MAX_SIGNATURES = 64;

/**
 * Accepted signers that signed every slot, ascending, each with its signature of `of` (one of the slots).
 * Signers are recovered from signatures; the names in an answer are ignored.
 */
export function countedSignatures(
  slots: readonly Slot[],
  of: Slot,
  accepted: ReadonlySet<Address>,
): readonly { readonly signer: Address; readonly signature: Hex }[] {
  const bySlot = new Map(slots.map((slot) => [slot, signersOf(slot, accepted)]));
  const chosen = bySlot.get(of);
  if (chosen === undefined)
    throw new Error("invariant violated: signatures of a slot outside the given slots");
  return [...chosen]
    .filter(([signer]) => [...bySlot.values()].every((signers) => signers.has(signer)))
    .map(([signer, signature]) => ({ signer, signature }))
    .toSorted((a, b) => (a.signer < b.signer ? -1 : 1));
}

function signersOf({ digest, signatures }: Slot, accepted: ReadonlySet<Address>): Map<Address, Hex> {
  const found = new Map<Address, Hex>();
  for (const text of signatures.slice(0, MAX_SIGNATURES)) {
    const signature = text.toLowerCase() as Hex;
    const signer = recoverSigner(digest, signature);
    if (signer !== undefined && accepted.has(signer) && !found.has(signer)) found.set(signer, signature);
  }
  return found;
}
