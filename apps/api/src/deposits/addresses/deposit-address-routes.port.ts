import type { Address, RequestId } from "@causeway/domain";
import type { DepositAddressAnswer, ReindexAddressAnswer } from "@causeway/wire";

/** Where somebody says that money was sent. */
export interface ReindexWish {
  readonly chainId: number;
  readonly depositAddress: string;
  /** Where to look instead. */
  readonly targetChainId: number | undefined;
  /** The one token to look for. */
  readonly currency: string | undefined;
}

/** What routes can ask of deposit addresses. */
export interface DepositAddressRoutes {
  /**
   * @throws ServiceError INVALID_ADDRESS, UNSUPPORTED_CHAIN, INVALID_INPUT_CURRENCY, NOT_FOUND,
   * SERVICE_UNAVAILABLE, RPC_HTTP_ERROR; RpcFault
   */
  reindex(wish: ReindexWish): Promise<ReindexAddressAnswer>;
  /** Undefined: no such address was given out. */
  lookUp(
    by: { readonly address: Address } | { readonly requestId: RequestId },
    askerKeyId: string | undefined,
  ): Promise<DepositAddressAnswer | undefined>;
}
