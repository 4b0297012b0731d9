import type { Hex } from "@causeway/domain";
import type { AddressCodec } from "../address-codec.ts";

/**
 * Accounts have 20 bytes. A currency is a token id of 16 bytes, followed by the ASCII name of its dex unless
 * it is the first perp dex.
 */
const ADDRESS = /^0x(?:[0-9a-fA-F]{2}){16,48}$/;
const HASH = /^0x[0-9a-f]{64}$/;

export const hyperliquidCodec: AddressCodec = {
  vmType: "hyperliquid-vm",
  isHex: true,
  nativeCurrency: `0x${"0".repeat(32)}`,
  encode: (text) => (ADDRESS.test(text) ? (text.toLowerCase() as Hex) : undefined),
  decode: (bytes) => (ADDRESS.test(bytes) ? bytes.toLowerCase() : undefined),
  transactionIdBytes: (id) => (HASH.test(id) ? (id as Hex) : undefined),
  transactionIdFormat: "32 bytes of lowercase hex",
};
