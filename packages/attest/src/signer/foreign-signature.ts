import type { Address, Hex32 } from "@causeway/domain";
import { addressOf } from "./address-of.ts";
import { digestBytes } from "./bytes.ts";
import { curve as chosen } from "./chosen-curve.ts";
import type { Curve } from "./curve.ts";
import { readDerSignature } from "./der-signature.ts";
import { toSignature, type Signature } from "./signer.ts";

/** Order of secp256k1 (SEC 2, 2.4.1). */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/**
 * What a key outside this process signed, as this process would have written it: s in the lower half, with
 * the parity that names `address`.
 *
 * @param der ECDSA signature in DER, s in either half
 * @returns undefined when it is no signature over `digest` by `address`: nothing that was not recovered may
 * leave as ours
 */
export function foreignSignature(
  der: Uint8Array,
  digest: Hex32,
  address: Address,
  curve: Curve = chosen,
): Signature | undefined {
  const integers = readDerSignature(der);
  if (integers === undefined) return undefined;
  const { r, s } = integers;
  // Here, since the other half is counted from the order; an r out of range is what nobody recovers to.
  if (s === 0n || s >= ORDER) return undefined;
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
