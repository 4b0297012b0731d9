import type { Hex } from "../ids/hex.ts";

/**
 * How one chain family spells addresses and currencies, and names transactions. Total functions: what is not
 * in the family's one spelling is undefined.
 */
export interface AddressFamily {
  /** The currency that has no contract. */
  readonly nativeCurrency: string;
  /** The bytes that orders, messages and the hub hash. */
  encode(text: string): Hex | undefined;
  /** The canonical text of such bytes. */
  decode(bytes: Hex): string | undefined;
  /** The bytes of a transaction id, given in the family's one spelling. */
  transactionIdBytes(id: string): Hex | undefined;
}
