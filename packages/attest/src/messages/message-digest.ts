import { keccak, toHex, writeHex } from "@causeway/domain";
import type { Hex32 } from "@causeway/domain";

const prefix = new TextEncoder().encode("\x19Ethereum Signed Message:\n32");
const buffer = new Uint8Array(prefix.length + 32);
buffer.set(prefix);

/**
 * The digest to sign for a message id, an order id or an owner authorization: EIP-191's personal message over
 * the 32 raw bytes.
 * @throws RangeError unless `id` is exactly 32 bytes of hex
 */
export function messageDigest(id: Hex32): Hex32 {
  if (id.length !== 66)
    throw new RangeError(`invariant violated: id is not 32 bytes of hex: ${id.slice(0, 80)}`);
  writeHex(id, buffer, prefix.length);
  return toHex(keccak(buffer));
}
