import type { Address, Currency } from "@causeway/domain";
import type { MaybePromise } from "@causeway/domain";

/**
 * All tokens that can be named: configured ones, those of token lists, and whatever the chain itself reports
 * for an address.
 */
export interface TokenBook {
  /**
   * Undefined when there is no token at this address. A token that only the chain knows is not `verified` and
   * not `supportsBridging`. Synchronous once it is known.
   * @param isSearch not for a quote: the look-up waits behind those of quotes
   * @throws ServiceError RPC_HTTP_ERROR when the chain did not answer, SERVICE_UNAVAILABLE when too many
   * look-ups wait
   */
  token(chainId: number, address: Address, isSearch?: boolean): MaybePromise<Currency | undefined>;
}
