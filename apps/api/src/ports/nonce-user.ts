import type { TxHash } from "@causeway/domain";

/** What used a nonce of a lane that was given to no payment. */
export interface NonceUser {
  readonly txHash: TxHash;
  /** Id of the request or claim that it pays, and whose rows are lost; undefined: it is nothing of ours. */
  readonly pays: string | undefined;
}
