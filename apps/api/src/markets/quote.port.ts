import type { Address } from "@causeway/domain";

/** Inventory that payments under way will still take; the balances read from the chain do not show it yet. */
export interface Reservations {
  /** Smallest units of `currency` on this chain. */
  reserved(chainId: number, currency: Address): bigint;
}

/** How long routes take, as this instance measured it. */
export interface RouteTimings {
  /** Seconds from the deposit transaction to the mined fill, for deposits that need so many confirmations. */
  estimateSeconds(originChainId: number, destinationChainId: number, confirmations: number): number;
}
