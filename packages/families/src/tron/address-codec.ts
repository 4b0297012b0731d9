import { createBase58check } from "@scure/base";
import { bytesOf, sha256, toHex } from "@causeway/domain";
import type { AddressCodec } from "../address-codec.ts";

const base58check = createBase58check(sha256);
const BYTES = /^0x41[0-9a-fA-F]{40}$/;

/**
 * Addresses in base58 with checksum (`T…`), 21 bytes that start with 0x41; hex is refused. Transaction ids
 * are 64 lower-case hex digits without prefix, as in Tron's own API. Nodes also accept ids with `0x`, but
 * then one deposit would have two ids.
 */
export const tronCodec: AddressCodec = {
  vmType: "tron-vm",
  nativeCurrency: "T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb",
  encode(text) {
    if (!/^T[1-9A-HJ-NP-Za-km-z]{33}$/.test(text)) return undefined;
    const bytes = decodeBase58(text);
    const hex = bytes === undefined ? "0x" : toHex(bytes);
    return BYTES.test(hex) ? hex : undefined;
  },
  decode: (hex) => (BYTES.test(hex) ? base58check.encode(bytesOf(hex)) : undefined),
  transactionIdBytes: (id) => (/^[0-9a-f]{64}$/.test(id) ? `0x${id}` : undefined),
  transactionIdFormat: "64 lowercase hex digits without 0x",
};

/** The library throws for a bad checksum, which is an expected result here. */
function decodeBase58(text: string): Uint8Array | undefined {
  try {
    return base58check.decode(text);
  } catch {
    return undefined;
  }
}
