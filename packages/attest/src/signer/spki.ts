/**
 * SubjectPublicKeyInfo of an uncompressed secp256k1 point (RFC 5480): id-ecPublicKey 1.2.840.10045.2.1, curve
 * 1.3.132.0.10, a bit string of 65 bytes starting with 04. DER has one encoding for it.
 */
const HEAD = Buffer.from("3056301006072a8648ce3d020106052b8104000a03420004", "hex");
const FIELD = 2n ** 256n - 2n ** 32n - 977n;

/**
 * The uncompressed point (65 bytes starting with 04) of a public key in DER; undefined unless it is a
 * secp256k1 point in exactly that form. A key of another curve would give an address for which no one can
 * sign.
 */
export function pointOfSpki(der: Uint8Array): Uint8Array | undefined {
  if (der.length !== HEAD.length + 64 || !HEAD.equals(der.subarray(0, HEAD.length))) return undefined;
  const point = der.subarray(HEAD.length - 1);
  const x = integer(point.subarray(1, 33));
  const y = integer(point.subarray(33));
  if (x >= FIELD || y >= FIELD || (x * x * x + 7n - y * y) % FIELD !== 0n) return undefined;
  return point;
}

function integer(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
}
