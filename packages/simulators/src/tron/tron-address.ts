import type { Hex } from "viem";

/** Formats of the two APIs for the same bytes. */

/** 21 bytes without `0x`, the address format of Tron's own API. */
export function tronHex(address: string): string {
  return `41${address.slice(2).toLowerCase()}`;
}

/** The 20 bytes of an address in the virtual machine; undefined if the text is not a Tron address. */
export function evmAddress(text: unknown): Hex | undefined {
  return typeof text === "string" && /^41[0-9a-fA-F]{40}$/.test(text)
    ? `0x${text.slice(2).toLowerCase()}`
    : undefined;
}

export function bare(hex: string): string {
  return hex.replace(/^0x/, "");
}

export function quantity(value: bigint | number): Hex {
  return `0x${value.toString(16)}`;
}
