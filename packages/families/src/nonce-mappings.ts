import type { Address, Hex32 } from "@causeway/domain";

/**
 * What a hub says of the nonces of wallets: which deposit id a transfer with a nonce is for, where the
 * transfer itself cannot carry one (the perpetuals exchange). Read at a hub block that is final by the hub's
 * policy, so that every oracle reads the same.
 */
export interface NonceMappings {
  /** @throws RpcFault when the hub's node cannot say: then nothing is known, and nothing is to be signed */
  of(chainName: string, wallet: Address, nonce: bigint): Promise<NonceMappingAnswer>;
}

export interface NonceMappingAnswer {
  /** Undefined: the final block knows none. */
  readonly entry:
    | {
        readonly id: Hex32;
        /** Who is to count as depositor; undefined: the wallet. */
        readonly depositor: Address | undefined;
        /** Unix seconds of the hub's block in which it was set. */
        readonly setAt: bigint;
      }
    | undefined;
  /** Unix seconds of the final block that was read. */
  readonly asOf: bigint;
}
