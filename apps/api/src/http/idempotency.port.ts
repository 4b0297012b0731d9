/** For so long an answer is given again, and a key belongs to its first body. */
export const IDEMPOTENCY_KEPT_MS = 24 * 3600 * 1000;

/**
 * The right to run one call: its caller, the endpoint and the `Idempotency-Key` name it, the token says whose
 * run it is.
 */
export interface IdempotencyLease {
  /** Id of the API key, or `ip:<address>` of a caller without one; both for a publishable key. */
  readonly scope: string;
  readonly endpoint: string;
  readonly key: string;
  readonly token: string;
}

/** An answer as it was first given. */
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
  /** SHA-256 (hex) of what was asked. */
  readonly bodyHash: string;
}

export type IdempotencyBegin =
  /** The call is this process's to run, until the lease ends. */
  | { readonly kind: "begun"; readonly lease: IdempotencyLease }
  | { readonly kind: "answered"; readonly answer: StoredAnswer }
  /** Somebody runs it now. */
  | { readonly kind: "underWay" }
  /** The key was used for another body. */
  | { readonly kind: "otherBody" };

/** First answers of calls, for 24 hours. */
export interface Idempotency {
  begin(call: IdempotentCall, nowMs: number): Promise<IdempotencyBegin>;
  /** Stores the answer of a call that committed nothing. @throws LeaseLost */
  finish(lease: IdempotencyLease, answer: StoredAnswer): Promise<void>;
  /** Lets the call be run again; does nothing once it has an answer or the lease is another's. */
  abandon(lease: IdempotencyLease): Promise<void>;
}

export interface IdempotencyWrites {
  /**
   * Stores the answer with whatever the commit does, so that neither is ever without the other: a use case
   * that is given a lease calls it last.
   * @throws LeaseLost: nothing of this commit may be.
   */
  finish(lease: IdempotencyLease, answer: StoredAnswer): Promise<void>;
  /** Forgets calls begun before `beforeMs`; returns how many. */
  prune(beforeMs: number, limit: number): Promise<number>;
}

/** The lease had ended and another process runs the call, or has run it. */
export class LeaseLost extends Error {
  constructor(lease: IdempotencyLease) {
    super(`the call ${lease.endpoint} ${lease.key} of ${lease.scope} is processed elsewhere`);
    this.name = "LeaseLost";
  }
}
