import type { Hex } from "viem";

/** How the two interfaces write the same bytes. */

/** 21 bytes without `0x`, as the chain's own interface writes addresses. */
export function tronHex(address: string): string {
  return `41${address.slice(2).toLowerCase()}`;
}

/** The 20 bytes that the virtual machine knows; undefined when the text is no address of the chain. */
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
