import type { Hex, TxHash } from "@causeway/domain";

/** Formats ids as clients of their chain write them; inside the service they are bytes in hex. */
export interface AddressFormat {
  /** Formats an account or a currency. */
  address(chainId: number, bytes: Hex): string;
  transaction(chainId: number, id: TxHash): string;
}
