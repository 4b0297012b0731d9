import type { Address } from "@causeway/domain";

/** Inventory that pending payments will use; balances read from the chain do not reflect it yet. */
export interface Reservations {
  /** Base units of `currency` on this chain. */
  reserved(chainId: number, currency: Address): bigint;
}

/** How long routes take, as measured by this instance. */
export interface RouteTimings {
  /**
   * Seconds from the deposit transaction to the mined fill, for deposits that need this many confirmations.
   */
  estimateSeconds(originChainId: number, destinationChainId: number, confirmations: number): number;
}
