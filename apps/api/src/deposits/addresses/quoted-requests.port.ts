import type { RequestTerms } from "@causeway/domain";
import type { NewDepositAddress } from "./deposit-addresses.port.ts";

/** Where fresh quotes are kept. */
export interface QuotedRequests {
  /**
   * Settles when the terms are committed, with the address that they are paid to: a deposit that comes a
   * moment later must find them.
   */
  insertQuoted(terms: RequestTerms, address?: NewDepositAddress): Promise<void>;
}
