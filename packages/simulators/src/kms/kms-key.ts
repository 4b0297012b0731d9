import { createHash, createPublicKey, randomUUID } from "node:crypto";
import { p256 } from "@noble/curves/nist";
import { secp256k1 } from "@noble/curves/secp256k1";

const curves = {
  ECC_SECG_P256K1: { ecdsa: secp256k1, jwk: "secp256k1" },
  ECC_NIST_P256: { ecdsa: p256, jwk: "P-256" },
} as const;

export type KeySpec = keyof typeof curves;
export const keySpecs = Object.keys(curves) as readonly KeySpec[];

export type KeyState = "Enabled" | "Disabled" | "PendingDeletion";

/** A key of the local service. */
export interface KmsKey {
  readonly id: string;
  readonly arn: string;
  readonly spec: KeySpec;
  readonly createdMs: number;
  state: KeyState;
  /** Operations that the key's policy denies to all callers. */
  readonly denied: Set<string>;
  /** SubjectPublicKeyInfo in DER. */
  readonly publicKey: Uint8Array;
  /**
   * Signs 32 bytes with ECDSA, in DER. Like the real service, returns a new signature each time, with a high
   * s half of the time.
   */
  sign(digest: Uint8Array): Uint8Array;
}

/** @param privateKey 32 bytes; default: a random key @throws if it is not a valid key of the curve */
export function createKey(spec: KeySpec, region: string, nowMs: number, privateKey?: Uint8Array): KmsKey {
  const { ecdsa, jwk } = curves[spec];
  const secret = privateKey ?? ecdsa.utils.randomPrivateKey();
  const point = ecdsa.getPublicKey(secret, false);
  const coordinate = (from: number): string =>
    Buffer.from(point.subarray(from, from + 32)).toString("base64url");
  const id = randomUUID();
  return {
    id,
    arn: `arn:aws:kms:${region}:000000000000:key/${id}`,
    spec,
    createdMs: nowMs,
    state: "Enabled",
    denied: new Set(),
    publicKey: createPublicKey({
      key: { kty: "EC", crv: jwk, x: coordinate(1), y: coordinate(33) },
      format: "jwk",
    }).export({ format: "der", type: "spki" }),
    sign: (digest) => ecdsa.sign(digest, secret, { lowS: false, extraEntropy: true }).toDERRawBytes(),
  };
}

export function sha256(bytes: Uint8Array): Uint8Array {
  return createHash("sha256").update(bytes).digest();
}
