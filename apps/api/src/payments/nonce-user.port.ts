import type { Hex, TxHash } from "@causeway/domain";

/** A transaction that used an unallocated nonce of a lane. */
export interface NonceUser {
  readonly txHash: TxHash;
  /** The request or claim that it pays, whose rows are lost; undefined: none of ours. */
  readonly pays: string | undefined;
  /**
   * Last 32 bytes of its input, where our payments carry their order; undefined: no such input, or it
   * reverted.
   */
  readonly inputEnd?: Hex | undefined;
}
