import type { Hex, TxHash } from "@causeway/domain";

/** How clients write what is on chains; inside the service it is bytes in hex. */
export interface AddressFormat {
  /** An account or currency. */
  address(chainId: number, bytes: Hex): string;
  transaction(chainId: number, id: TxHash): string;
}
