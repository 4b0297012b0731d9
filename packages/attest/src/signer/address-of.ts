import { keccak, type Address } from "@causeway/domain";
import { toHex } from "./bytes.ts";

/**
 * The account of an uncompressed public key (65 bytes starting with 04): the last 20 bytes of the hash of its
 * coordinates.
 */
export function addressOf(publicKey: Uint8Array): Address {
  return toHex(keccak(publicKey.subarray(1)).subarray(12));
}
