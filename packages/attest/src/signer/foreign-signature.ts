import type { Address, Hex32 } from "@causeway/domain";
import { addressOf } from "./address-of.ts";
import { digestBytes } from "./bytes.ts";
import { curve as chosen } from "./chosen-curve.ts";
import type { Curve } from "./curve.ts";
import { readDerSignature, type SignatureIntegers } from "./der-signature.ts";
import { toSignature, type Signature } from "./signer.ts";

/** Order of secp256k1 (SEC 2, 2.4.1). */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/**
 * Converts a signature by a remote key to the format of this process: low s, and the parity that recovers
 * `address`.
 * @param der ECDSA signature in DER, s in either half
 * @returns undefined unless the signature recovers to `address` over `digest`: never return an unverified
 * signature as our own
 */
export function foreignSignature(
  der: Uint8Array,
  digest: Hex32,
  address: Address,
  curve: Curve = chosen,
): Signature | undefined {
  const integers = readDerSignature(der);
  return integers && signatureBy(address, digest, integers, curve);
}

/**
 * The signature with these integers in the format of this process.
 * @param integers s in either half
 * @returns undefined unless it recovers to `address` over `digest`
 */
export function signatureBy(
  address: Address,
  digest: Hex32,
  { r, s }: SignatureIntegers,
  curve: Curve = chosen,
): Signature | undefined {
  // Check the range here, because s is negated modulo the order, and an r out of range has no signer.
  if (s === 0n || s >= ORDER || r >= ORDER) return undefined;
  const rs = Buffer.from(word(r) + word(s > ORDER / 2n ? ORDER - s : s), "hex");
  const message = digestBytes(digest);
  for (const yParity of [0, 1] as const) {
    const publicKey = curve.recover(message, { rs, yParity });
    if (publicKey !== undefined && addressOf(publicKey) === address) return toSignature({ rs, yParity });
  }
  return undefined;
}

function word(value: bigint): string {
  return value.toString(16).padStart(64, "0");
}
