import type { Hex } from "../ids/hex.ts";

/**
 * How one chain family formats addresses, currencies and transaction ids. Total functions: text that is not
 * in the canonical format gives undefined.
 */
export interface AddressFamily {
  /** Addresses and transaction ids are hex, so their letter case does not matter. Absent: it does. */
  readonly isHex?: true;
  /** The native currency, which has no contract. */
  readonly nativeCurrency: string;
  /** The bytes that orders, messages and the hub hash. */
  encode(text: string): Hex | undefined;
  /** The canonical text of these bytes. */
  decode(bytes: Hex): string | undefined;
  /** The bytes of a transaction id in canonical format. */
  transactionIdBytes(id: string): Hex | undefined;
  /** The canonical format of transaction ids, for errors: it follows "must be". */
  readonly transactionIdForm: string;
}
