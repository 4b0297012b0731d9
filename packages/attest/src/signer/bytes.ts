import type { Hex, Hex32 } from "@causeway/domain";

/** Bytes as lower-case hex with 0x. */
export function toHex(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex")}`;
}

const HEX32 = /^0x[0-9a-fA-F]{64}$/;

/**
 * The bytes of a digest.
 * @throws RangeError if `digest` is not 32 bytes of hex: Node's decoder would silently stop at the first
 * invalid character, and other bytes would be signed
 */
export function digestBytes(digest: Hex32): Uint8Array {
  if (!HEX32.test(digest)) throw new RangeError("invariant violated: digest is not 32 bytes of hex");
  return Buffer.from(digest.slice(2), "hex");
}
