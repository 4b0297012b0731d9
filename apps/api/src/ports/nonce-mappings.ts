import type { Address, Hex32 } from "@causeway/domain";

/**
 * What wallets have signed about their nonces, on chains whose transfers cannot carry an id (the perpetuals exchange). A nonce of a wallet means one thing for
 * ever, and means it as soon as it is stored: whether the hub has it too is another question.
 */
export interface NonceMappingReads {
  /** Undefined: the wallet has said nothing about that nonce. */
  of(chainId: number, wallet: Address, nonce: bigint): Promise<MappedNonce | undefined>;
}

export interface MappedNonce {
  /** Id of the order that the transfer pays. */
  readonly id: Hex32;
  /** Who is to count as depositor. */
  readonly depositor: Address;
}
