/** Calls that are counted together. */
export type LimitClass = "quote" | "status" | "other";

/** Calls a minute. */
export interface RateLimitPolicy {
  /** Of one API key, where the key itself says nothing else. */
  readonly key: Readonly<Record<LimitClass, number>>;
  /** Of one address without a key. */
  readonly address: Readonly<Record<LimitClass, number>>;
  /** Bytes of destination calls in the quotes of one caller without a secret key, in 24 hours. */
  readonly callBytesPerDay: number;
}

/** What came of asking for a permit. */
export interface Permit {
  /** How many permits of the window are out, this one among them; more than `most`: there was none. */
  readonly used: number;
  /** When the window ends. */
  readonly endsInMs: number;
}

export interface RateLimits {
  readonly policy: RateLimitPolicy;
  /**
   * Asks for one of the `most` permits that all processes together give to the bucket in a window. Never
   * throws.
   */
  take(bucket: string, most: number): Permit | Promise<Permit>;
  /** Asks for that many of the bytes of `callBytesPerDay`. Never throws. */
  takeCallBytes(caller: string, bytes: number): Permit | Promise<Permit>;
}
