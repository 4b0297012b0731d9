/** Any `0x` hex text. */
export type Hex = `0x${string}`;

/** 32 bytes, lower-case hex. */
export type Hex32 = Hex;

/** 20-byte EVM address, always lower case inside the service; the API may show a checksum. */
export type Address = Hex;

/** Transaction hash of an EVM chain, lower case. */
export type TxHash = Hex;

/** Identifies an intent everywhere in the API: random, never derivable from the order. */
export type RequestId = Hex & { readonly brand?: "RequestId" };

/** EIP-712 struct hash of the order; the id that a deposit carries on chain. */
export type OrderId = Hex & { readonly brand?: "OrderId" };

/** The native currency of an EVM chain. */
export const NATIVE_CURRENCY: Address = "0x0000000000000000000000000000000000000000";

const HEX32 = /^0x[0-9a-f]{64}$/;
const ADDRESS = /^0x[0-9a-f]{40}$/;

/** Lower-cases `text` if it is 32 bytes of hex; otherwise undefined. */
export function parseHex32(text: string): Hex32 | undefined {
  if (HEX32.test(text)) return text as Hex32;
  const lower = text.toLowerCase();
  return HEX32.test(lower) ? (lower as Hex32) : undefined;
}

/**
 * Lower-cases `text` if it is a 20-byte address in any case; otherwise undefined. Checksums are not enforced:
 * clients mix cases.
 */
export function parseAddress(text: string): Address | undefined {
  const lower = text.toLowerCase();
  return ADDRESS.test(lower) ? (lower as Address) : undefined;
}
