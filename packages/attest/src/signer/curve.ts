/** An ECDSA signature over secp256k1 in raw bytes. */
export interface CurveSignature {
  /** r then s, 32 bytes each, big-endian. */
  readonly rs: Uint8Array;
  /** Parity of the point R's y, which identifies one of the two possible public keys. */
  readonly yParity: 0 | 1;
}

/**
 * The secp256k1 operations for signing and verifying, on raw bytes. Both implementations return the same
 * bytes.
 */
export interface Curve {
  /** `native` is libsecp256k1, about ten times faster; `portable` is plain JavaScript. */
  readonly backend: "native" | "portable";
  /** Whether `key` is 32 bytes that encode a number from 1 to n−1. */
  isPrivateKey(key: Uint8Array): boolean;
  /** Uncompressed, 65 bytes starting with 04. @throws if the key is invalid; the message never contains it */
  publicKey(key: Uint8Array): Uint8Array;
  /**
   * Deterministic (RFC 6979), with low s.
   * @throws if `digest` is not 32 bytes or the key is invalid; the error message never contains the key
   */
  sign(digest: Uint8Array, key: Uint8Array): CurveSignature;
  /**
   * The uncompressed public key of the signature's signer; undefined if there is none. Accepts high s.
   * @throws if `digest` or `rs` has a wrong length
   */
  recover(digest: Uint8Array, signature: CurveSignature): Uint8Array | undefined;
}
