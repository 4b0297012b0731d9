/** How long a response is replayed and a key is bound to its first body. */
export const IDEMPOTENCY_KEPT_MS = 24 * 3600 * 1000;

/**
 * The right to run one call. Caller, endpoint and `Idempotency-Key` identify the call; the token identifies
 * the run.
 */
export interface IdempotencyLease {
  /** Id of the API key, or `ip:<address>` of a caller without a key; both for a publishable key. */
  readonly scope: string;
  readonly endpoint: string;
  readonly key: string;
  readonly token: string;
}

/** The first response of a call. */
export interface StoredAnswer {
  readonly status: number;
  /** JSON text. */
  readonly body: string;
}

/** A call that carries an `Idempotency-Key`. */
export interface IdempotentCall {
  readonly scope: string;
  readonly endpoint: string;
  readonly key: string;
  /** SHA-256 (hex) of the request body. */
  readonly bodyHash: string;
}

export type IdempotencyBegin =
  /** This process runs the call until the lease ends. */
  | { readonly kind: "started"; readonly lease: IdempotencyLease }
  | { readonly kind: "answered"; readonly answer: StoredAnswer }
  /** Another caller is running the call. */
  | { readonly kind: "inProgress" }
  /** The key was used with another body. */
  | { readonly kind: "bodyMismatch" };

/** First responses of calls, for 24 hours. */
export interface Idempotency {
  begin(call: IdempotentCall, nowMs: number): Promise<IdempotencyBegin>;
  /** Stores the response of a call that committed nothing. @throws LeaseLost */
  finish(lease: IdempotencyLease, answer: StoredAnswer): Promise<void>;
  /** Allows the call to run again. Does nothing if the call has a response or another run has the lease. */
  abandon(lease: IdempotencyLease): Promise<void>;
}

export interface IdempotencyWrites {
  /**
   * Stores the response in the same transaction as the call's effects, so that both are committed or neither.
   * A use case with a lease calls it last.
   * @throws LeaseLost: the transaction must roll back
   */
  finish(lease: IdempotencyLease, answer: StoredAnswer): Promise<void>;
  /** Deletes calls that began before `beforeMs`; returns how many. */
  prune(beforeMs: number, limit: number): Promise<number>;
}

/** The lease had ended, and another process runs or ran the call. */
export class LeaseLost extends Error {
  constructor(lease: IdempotencyLease) {
    super(
      `the call ${lease.endpoint} ${lease.key} of ${lease.scope} is being processed by another process; retry with the same key`,
    );
    this.name = "LeaseLost";
  }
}
