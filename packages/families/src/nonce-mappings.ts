import type { Address, Hex32 } from "@causeway/domain";

/**
 * A hub's mappings from wallet nonces to deposit ids, for transfers that cannot carry an id themselves
 * (Hyperliquid). Read at a hub block that is final by the hub's policy, so that every oracle reads the same.
 */
export interface NonceMappings {
  /** @throws RpcFault if the hub's node does not respond; then nothing may be signed */
  of(chainName: string, wallet: Address, nonce: bigint): Promise<NonceMappingAnswer>;
}

export interface NonceMappingAnswer {
  /** Undefined: no mapping exists at the final block. */
  readonly entry:
    | {
        readonly id: Hex32;
        /** The depositor to record; undefined: the wallet. */
        readonly depositor: Address | undefined;
        /** Unix seconds of the hub's block in which it was set. */
        readonly setAt: bigint;
      }
    | undefined;
  /** Unix seconds of the final block that was read. */
  readonly asOf: bigint;
}
