import type { Address, Hex32 } from "@causeway/domain";

/**
 * A hub's mappings of wallet nonces: the deposit id of the transfer with a nonce, where the transfer itself
 * cannot carry one (Hyperliquid). Read at a hub block that is final by the hub's policy, so that every oracle
 * reads the same.
 */
export interface NonceMappings {
  /** @throws RpcFault when the hub's node does not answer: then nothing may be signed */
  of(chainName: string, wallet: Address, nonce: bigint): Promise<NonceMappingAnswer>;
}

export interface NonceMappingAnswer {
  /** Undefined: there is none at the final block. */
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
