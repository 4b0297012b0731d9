import { NATIVE_CURRENCY } from "../ids/hex.ts";
import type { Hex } from "../ids/hex.ts";
import type { AddressFamily } from "./address-family.ts";

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const HASH = /^0x[0-9a-f]{64}$/;

/**
 * Addresses in any case (checksums are not enforced, because wallets mix cases); transaction hashes in lower
 * case only.
 */
export const evmAddresses: AddressFamily = {
  isHex: true,
  nativeCurrency: NATIVE_CURRENCY,
  encode: (text) => (ADDRESS.test(text) ? (text.toLowerCase() as Hex) : undefined),
  decode: (bytes) => (ADDRESS.test(bytes) ? bytes.toLowerCase() : undefined),
  transactionIdBytes: (id) => (HASH.test(id) ? (id as Hex) : undefined),
  transactionIdForm: "32 bytes of lowercase hex",
};
