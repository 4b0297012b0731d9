import type { RequestTerms } from "@causeway/domain";
import type { NewDepositAddress } from "./deposit-addresses.port.ts";

/** Stores new quotes. */
export interface QuotedRequests {
  /**
   * Resolves when the terms and their deposit address are committed: a deposit a moment later must find them.
   */
  insertQuoted(terms: RequestTerms, address?: NewDepositAddress): Promise<void>;
}
