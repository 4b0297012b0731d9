import type { Address, Currency } from "@causeway/domain";
import type { MaybePromise } from "@causeway/domain";

/**
 * Every token that can be named: the configured ones, those of token lists, and whatever a chain itself can
 * tell of an address.
 */
export interface TokenBook {
  /**
   * Undefined when no token answers at this address. A token that only the chain knows is not `verified`, and
   * not `supportsBridging`. Synchronous once it is known.
   * @param isSearch nobody quotes with it: the look-up waits behind those of quotes
   * @throws ServiceError RPC_HTTP_ERROR when the chain did not tell, SERVICE_UNAVAILABLE when too many
   * look-ups wait
   */
  token(chainId: number, address: Address, isSearch?: boolean): MaybePromise<Currency | undefined>;
}
