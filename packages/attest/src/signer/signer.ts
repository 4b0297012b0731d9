import type { Address, Hex, Hex32 } from "@causeway/domain";
import { toHex } from "./bytes.ts";
import type { CurveSignature } from "./curve.ts";
import type { Preimage } from "./preimage.ts";

/** A secp256k1 signature over a digest. */
export interface Signature {
  readonly r: Hex32;
  /** Always in the lower half of the curve order (EIP-2). */
  readonly s: Hex32;
  readonly yParity: 0 | 1;
}

/**
 * Signs with one key. A raw key is in this process; signing with any other key may wait for the network.
 */
export interface Signer {
  readonly address: Address;
  /** The key is in this process: signing takes less than a millisecond and never waits for the network. */
  readonly isLocal?: true;
  /**
   * Deterministic (RFC 6979) for raw keys; a KMS returns a different signature each time.
   * @param preimage of the digest. A remote signer signs the preimage, never a bare digest, so that its own
   * policy can check the content.
   * @throws RangeError if `digest` is not 32 bytes of hex, or a remote signer gets no preimage
   * @throws SignerUnavailable if a remote key is unreachable (retryable)
   */
  signDigest(digest: Hex32, preimage?: Preimage): Promise<Signature>;
}

/** r ‖ s ‖ v as 65 bytes of hex, v = 27 + yParity. */
export function signatureToHex(signature: Signature): Hex {
  return `${signature.r}${signature.s.slice(2)}${(27 + signature.yParity).toString(16)}`;
}

/** Converts raw bytes to hex. */
export function toSignature({ rs, yParity }: CurveSignature): Signature {
  const hex = toHex(rs);
  return { r: hex.slice(0, 66) as Hex, s: `0x${hex.slice(66)}`, yParity };
}
