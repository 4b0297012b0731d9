import type { RequestId, TxHash } from "@causeway/domain";
import type { ApiKeyIdentity } from "./api-keys.ts";
import type { IdempotencyLease, StoredAnswer } from "./idempotency.ts";

/** An app asks that a request be filled before its deposit is there, and vouches for the deposit. */
export interface FastFillWish {
  readonly key: ApiKeyIdentity;
  readonly requestId: RequestId;
  /** Smallest units of the input that the fill is priced on; undefined: what was quoted. */
  readonly inputAmount?: bigint | undefined;
  /** USD with 18 decimals that the fill may be worth at most. */
  readonly maxUsd?: bigint | undefined;
  /** The origin transaction, when the app knows it. */
  readonly txHash?: TxHash | undefined;
  /** Stored in the very commit that accepts, when the call carries an `Idempotency-Key`. */
  readonly finish?: { readonly lease: IdempotencyLease; readonly answer: StoredAnswer } | undefined;
}

/** `filled`: the recipient has the money already, nothing was done. */
export type FastFillOutcome = "queued" | "filled";
