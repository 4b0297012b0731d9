import { base58 } from "@scure/base";
import { bytesOf, toHex, type Hex } from "@causeway/domain";
import type { AddressCodec } from "../address-codec.ts";

const BASE58 = /^[1-9A-HJ-NP-Za-km-z]+$/;

/** Public keys of 32 bytes and signatures of 64, both in base58, which has one text per value. */
export const solanaCodec: AddressCodec = {
  vmType: "solana-vm",
  nativeCurrency: "1".repeat(32),
  encode: (text) => fromBase58(text, 32, 44),
  decode: (bytes) => (/^0x[0-9a-fA-F]{64}$/.test(bytes) ? base58.encode(bytesOf(bytes)) : undefined),
  transactionIdBytes: (id) => fromBase58(id, 64, 88),
  transactionIdFormat: "64 bytes in base58",
};

function fromBase58(text: string, length: number, maxCharacters: number): Hex | undefined {
  // Decoding takes quadratic time: check the length first.
  if (text.length > maxCharacters || !BASE58.test(text)) return undefined;
  const bytes = base58.decode(text);
  return bytes.length === length ? toHex(bytes) : undefined;
}
