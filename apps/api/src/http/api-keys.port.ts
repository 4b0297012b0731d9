import type { Address, SponsorshipRules } from "@causeway/domain";

/** Scopes of a key. A publishable key (see `origins`) can have `quote` and `read` only. */
export type ApiScope = "quote" | "execute" | "fast-fill" | "read";

/** Requests per minute that replace the default limits of a key. */
export interface KeyLimits {
  readonly quotePerMinute?: number;
  readonly otherPerMinute?: number;
}

/** The owner of a valid API key. */
export interface ApiKeyIdentity {
  /** Public id of the key; not a secret. */
  readonly id: string;
  readonly label: string;
  readonly scopes: readonly ApiScope[];
  /** Referrers that its executions may name. Empty: any. */
  readonly referrers: readonly string[];
  /**
   * Browser origins that may use the key. If not empty, the key is publishable, and requests from other
   * origins are refused.
   */
  readonly origins: readonly string[];
  /** The wallet whose app balance pays for the key. Undefined until its owner has signed for it. */
  readonly fundingAddress: Address | undefined;
  readonly rules: SponsorshipRules;
  readonly limits: KeyLimits;
}

export interface ApiKeys {
  /**
   * Looks up a key. Undefined if it is unknown, revoked, or was rotated too long ago. Takes the same time for
   * a wrong secret as for an unknown id. Changes by other processes take effect within a second.
   * @throws ServiceError SERVICE_UNAVAILABLE if the keys cannot be read
   */
  find(key: string): Promise<ApiKeyIdentity | undefined>;
  /**
   * Whether this process recently saw a key with this id, regardless of the secret. Does not query the store.
   */
  isKnown(key: string): boolean;
}
