/** Calls that share one limit. */
export type LimitClass = "quote" | "status" | "other";

/** Calls per minute. */
export interface RateLimitPolicy {
  /** Limits of one API key that has no limits of its own. */
  readonly key: Readonly<Record<LimitClass, number>>;
  /** Limits of one address without a key. */
  readonly address: Readonly<Record<LimitClass, number>>;
  /** Bytes of destination calls in the quotes of one caller without a secret key, in 24 hours. */
  readonly callBytesPerDay: number;
}

/** The answer to a request for units of a quota. */
export interface QuotaUse {
  /** Units of the window granted so far, including these. More than `limit` means refused. */
  readonly used: number;
  /** When the window ends. */
  readonly endsInMs: number;
}

export interface RateLimits {
  readonly policy: RateLimitPolicy;
  /**
   * Takes one of the `limit` units that all processes together grant the bucket per window. Never throws.
   */
  take(bucket: string, limit: number): QuotaUse | Promise<QuotaUse>;
  /** Takes this many of the bytes of `callBytesPerDay`. Never throws. */
  takeCallBytes(caller: string, bytes: number): QuotaUse | Promise<QuotaUse>;
}
