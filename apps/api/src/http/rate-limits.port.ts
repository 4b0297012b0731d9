/** Calls that share one limit. */
export type LimitClass = "quote" | "status" | "other";

/** Calls per minute. */
export interface RateLimitPolicy {
  /** Of one API key without limits of its own. */
  readonly key: Readonly<Record<LimitClass, number>>;
  /** Of one address without a key. */
  readonly address: Readonly<Record<LimitClass, number>>;
  /** Bytes of destination calls in the quotes of one caller without a secret key, in 24 hours. */
  readonly callBytesPerDay: number;
}

/** The answer to a request for a permit. */
export interface Permit {
  /** Permits of the window granted so far, including this one. More than `limit` means refused. */
  readonly used: number;
  /** When the window ends. */
  readonly endsInMs: number;
}

export interface RateLimits {
  readonly policy: RateLimitPolicy;
  /**
   * Takes one of the `limit` permits that all processes together grant the bucket per window. Never throws.
   */
  take(bucket: string, limit: number): Permit | Promise<Permit>;
  /** Takes this many of the bytes of `callBytesPerDay`. Never throws. */
  takeCallBytes(caller: string, bytes: number): Permit | Promise<Permit>;
}
