import type { RequestId, TxHash } from "@causeway/domain";

/** What used a nonce of a lane that was given to no payment; with a request: the payment of it whose rows are lost. */
export interface NonceUser {
  readonly txHash: TxHash;
  readonly requestId: RequestId | undefined;
}
