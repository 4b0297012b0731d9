import { recoverSigner } from "@causeway/attest";
import type { Address, Hex, Hex32 } from "@causeway/domain";

/**
 * Something that oracles signed: its digest, computed here and never taken from them, and what they gave as
 * signatures of it.
 */
export interface Slot {
  readonly digest: Hex32;
  readonly signatures: readonly string[];
}

/** More signatures of one thing than this are no quorum but a burden. */
const MAX_SIGNATURES = 64;

/**
 * Who signed every slot, among those who count, ascending, each with his signature of `of` (one of the
 * slots). A signature belongs to whom it recovers to; what anybody says of it is not looked at.
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
