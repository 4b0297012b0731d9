import type { QuoteStep } from "@causeway/wire";

/** A user's wallet on a chain of any family. */
export interface FamilyWallet {
  readonly chain: string;
  /** In the chain's format. */
  readonly address: string;
  /** Balance in base units. @param currency address as in `GET /chains` */
  balanceOf(currency: string): Promise<bigint>;
  /**
   * Executes the quote's steps in order.
   *
   * @returns the id of the last transaction, in the chain's format
   * @throws Error if a step is refused
   */
  execute(steps: readonly QuoteStep[]): Promise<string>;
}
