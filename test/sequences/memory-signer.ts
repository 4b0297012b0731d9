import type { Signer } from "@causeway/attest";
import { keccakOf } from "@causeway/domain";
import type { Address, Hex, Hex32 } from "@causeway/domain";
import { concat } from "viem";

/** Signers by the `r` of their signatures, which replaces curve arithmetic on chains in memory. */
const signers = new Map<bigint, Address>();

export function memorySigner(address: Address): Signer {
  return {
    address,
    signDigest: async (digest) => {
      const r: Hex32 = keccakOf(concat([address, digest]));
      signers.set(BigInt(r), address);
      return { r, s: `0x${"1".padStart(64, "0")}`, yParity: 0 };
    },
  };
}

/** @throws if no signer of this process made the signature */
export function signerOfSignature(r: Hex): Address {
  const address = signers.get(BigInt(r));
  if (address === undefined)
    throw new Error("invariant violated: a signature that no signer of this process made");
  return address;
}

/** Deletes all signatures, because the next sequence needs none of them. */
export function forgetSignatures(): void {
  signers.clear();
}
