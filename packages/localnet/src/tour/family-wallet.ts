import type { QuoteStep } from "@causeway/wire";

/** A user's wallet on one chain, whatever its family. */
export interface FamilyWallet {
  readonly chain: string;
  /** As the chain writes it. */
  readonly address: string;
  /** Smallest units of a currency as `GET /chains` names it. */
  balanceOf(currency: string): Promise<bigint>;
  /**
   * Does what the quote's steps ask, one after the other.
   *
   * @returns the last transaction, as the chain names it.
   * @throws Error when something is refused
   */
  carryOut(steps: readonly QuoteStep[]): Promise<string>;
}
