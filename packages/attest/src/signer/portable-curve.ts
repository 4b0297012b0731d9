import { secp256k1 } from "@noble/curves/secp256k1";
import type { Curve } from "./curve.ts";
import { yParityOf } from "./y-parity.ts";

/**
 * The curve in JavaScript, as used by viem: the reference for the native one, and its fallback on platforms
 * without a prebuild.
 */
export const portableCurve: Curve = {
  backend: "portable",
  isPrivateKey,
  publicKey(key) {
    requireKey(key);
    return secp256k1.getPublicKey(key, false);
  },
  sign(digest, key) {
    if (digest.length !== 32) throw new RangeError("invariant violated: digest must have 32 bytes");
    requireKey(key);
    const signature = secp256k1.sign(digest, key);
    return { rs: signature.toCompactRawBytes(), yParity: yParityOf(signature.recovery) };
  },
  recover(digest, { rs, yParity }) {
    if (digest.length !== 32 || rs.length !== 64)
      throw new RangeError("invariant violated: digest must have 32 bytes, r and s together 64");
    try {
      const signature = secp256k1.Signature.fromCompact(rs).addRecoveryBit(yParity);
      return signature.recoverPublicKey(digest).toRawBytes(false);
    } catch {
      return undefined;
    }
  },
};

function isPrivateKey(key: Uint8Array): boolean {
  return key.length === 32 && secp256k1.utils.isValidPrivateKey(key);
}

/** Checks the key before the library does, because the library's error quotes the key. */
function requireKey(key: Uint8Array): void {
  if (!isPrivateKey(key)) throw new RangeError("not a valid secp256k1 private key");
}
