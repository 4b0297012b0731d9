import type { AddressCodec } from "../address-codec.ts";

/**
 * Accounts and assets are 16-byte numbers, written in decimal digits without leading zeros. Transaction ids
 * are 80 lower-case hex digits without prefix.
 */
export const lighterCodec: AddressCodec = {
  vmType: "lighter-vm",
  nativeCurrency: "0",
  encode(text) {
    if (!/^(?:0|[1-9]\d{0,38})$/.test(text)) return undefined;
    const index = BigInt(text);
    return index >> 128n === 0n ? `0x${index.toString(16).padStart(32, "0")}` : undefined;
  },
  decode: (bytes) => (/^0x[0-9a-fA-F]{32}$/.test(bytes) ? BigInt(bytes).toString() : undefined),
  transactionIdBytes: (id) => (/^[0-9a-f]{80}$/.test(id) ? `0x${id}` : undefined),
  transactionIdFormat: "80 lowercase hex digits",
};
