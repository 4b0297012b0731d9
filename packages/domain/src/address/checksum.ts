import { getAddress } from "viem";
import { parseAddress } from "../ids/hex.ts";

/**
 * True for a 20-byte address in mixed case whose capitals are not its EIP-55 checksum, so a character is
 * mistyped. Addresses in one case carry no checksum.
 */
export function hasWrongChecksum(text: string): boolean {
  const address = parseAddress(text);
  if (address === undefined) return false;
  const digits = text.slice(2);
  const hasOneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase();
  return !hasOneCase && getAddress(address).slice(2) !== digits;
}
