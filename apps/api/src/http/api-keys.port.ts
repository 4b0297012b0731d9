import type { Address, SponsorshipRules } from "@causeway/domain";

/** What a key is for. A publishable one (see `origins`) is for `quote` and `read` only. */
export type ApiScope = "quote" | "execute" | "fast-fill" | "read";

/** Requests a minute that a key may make instead of the usual ones. */
export interface KeyLimits {
  readonly quotePerMinute?: number;
  readonly otherPerMinute?: number;
}

/** Whoever asks with a key that is valid now. */
export interface ApiKeyIdentity {
  /** Names the key everywhere; no secret. */
  readonly id: string;
  readonly label: string;
  readonly scopes: readonly ApiScope[];
  /** Referrers that its executions may name; none listed: any. */
  readonly referrers: readonly string[];
  /**
   * Browser origins that may use it. Not empty: the key is publishable, and a request without one of them is
   * refused.
   */
  readonly origins: readonly string[];
  /** Wallet whose app balance pays what the key orders; undefined until its owner has signed for it. */
  readonly fundingAddress: Address | undefined;
  readonly rules: SponsorshipRules;
  readonly limits: KeyLimits;
}

export interface ApiKeys {
  /**
   * Whose key this text is; undefined when it is nobody's, is revoked, or was replaced too long ago. Takes
   * the same time for a wrong secret as for an unknown id. What was changed elsewhere is seen within a
   * second.
   * @throws ServiceError SERVICE_UNAVAILABLE when that cannot be told now.
   */
  find(key: string): Promise<ApiKeyIdentity | undefined>;
  /** Whether a key with the id of this text was seen here of late, whatever its secret. Asks nobody. */
  isFamiliar(key: string): boolean;
}
