import type { Hex, TxHash } from "@causeway/domain";

/** A transaction that used a nonce of a lane that was not allocated. */
export interface NonceUser {
  readonly txHash: TxHash;
  /** Id of the request or claim that it pays, and whose rows are lost; undefined: it is nothing of ours. */
  readonly pays: string | undefined;
  /**
   * Last 32 bytes of its input, where our payments name their order; undefined: it has no such input, or
   * reverted.
   */
  readonly inputEnd?: Hex | undefined;
}
