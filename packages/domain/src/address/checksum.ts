import { getAddress } from "viem";
import { parseAddress } from "../ids/hex.ts";

/**
 * Whether a 20-byte address in mixed case fails its EIP-55 checksum, which indicates a typo. Addresses in one
 * case have no checksum.
 */
export function hasWrongChecksum(text: string): boolean {
  const address = parseAddress(text);
  if (address === undefined) return false;
  const digits = text.slice(2);
  const hasOneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase();
  return !hasOneCase && getAddress(address).slice(2) !== digits;
}

/** Does not state the correct checksum: that would confirm a mistyped address. */
export const WRONG_CHECKSUM =
  "has an invalid EIP-55 checksum; compare it with its source for a mistyped digit or case";
