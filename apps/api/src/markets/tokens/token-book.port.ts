import type { Address, Currency } from "@causeway/domain";
import type { MaybePromise } from "@causeway/domain";

/**
 * All tokens that requests can use: configured tokens, tokens of token lists, and tokens that the chain
 * reports for an address.
 */
export interface TokenBook {
  /**
   * The token at an address; undefined if there is none. A token that only the chain knows has `verified` and
   * `supportsBridging` set to false. Synchronous once the token is cached.
   * @param isSearch whether the look-up is for a search: it then waits behind look-ups for quotes
   * @throws ServiceError RPC_HTTP_ERROR when the chain did not answer, SERVICE_UNAVAILABLE when too many
   * look-ups wait
   */
  token(chainId: number, address: Address, isSearch?: boolean): MaybePromise<Currency | undefined>;
}
