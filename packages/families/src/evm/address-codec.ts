import { NATIVE_CURRENCY, type Hex } from "@causeway/domain";
import type { AddressCodec } from "../address-codec.ts";

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const HASH = /^0x[0-9a-f]{64}$/;

/**
 * Addresses in any case (checksums are not enforced, because wallets mix cases); transaction hashes in lower
 * case only.
 */
export const evmCodec: AddressCodec = {
  vmType: "ethereum-vm",
  isHex: true,
  isPlain: true,
  nativeCurrency: NATIVE_CURRENCY,
  encode: (text) => (ADDRESS.test(text) ? (text.toLowerCase() as Hex) : undefined),
  decode: (bytes) => (ADDRESS.test(bytes) ? bytes.toLowerCase() : undefined),
  transactionIdBytes: (id) => (HASH.test(id) ? (id as Hex) : undefined),
  transactionIdFormat: "32 bytes of lowercase hex",
};
