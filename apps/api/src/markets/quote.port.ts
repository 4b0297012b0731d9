import type { Address } from "@causeway/domain";

/** Inventory that pending payments will use, and that balances read from the chain still include. */
export interface Reservations {
  /** Reserved amount of `currency` on this chain, base units. */
  reserved(chainId: number, currency: Address): bigint;
}

/** How long routes take, as measured by this instance. */
export interface RouteTimings {
  /**
   * Seconds from the deposit transaction to the mined fill, for deposits that need this many confirmations.
   */
  estimateSeconds(originChainId: number, destinationChainId: number, confirmations: number): number;
}
