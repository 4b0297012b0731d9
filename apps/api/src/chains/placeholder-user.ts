import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address } from "@causeway/domain";

const PLACEHOLDERS: ReadonlySet<Address> = new Set<Address>([
  NATIVE_CURRENCY,
  "0x000000000000000000000000000000000000dead",
]);

/**
 * Whether clients use this address as the user before a wallet is connected: funds sent there would be lost.
 */
export function isPlaceholder(address: Address): boolean {
  return PLACEHOLDERS.has(address);
}
