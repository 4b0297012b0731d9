import type { Address } from "@causeway/domain";

/** The account that pays from a lane, and its balances on the chain. */
export interface LaneFunds {
  readonly chainId: number;
  readonly sender: Address;
  readonly native: Address;
  /**
   * The balance in base units. Payments mined up to `blockNumber` are included; all others count as pending.
   * @throws ServiceError RPC_HTTP_ERROR when no fresh value is known; RangeError for an unknown currency
   */
  balance(currency: Address): { readonly amount: bigint; readonly blockNumber: bigint };
}
