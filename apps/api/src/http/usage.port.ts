/** One answered call. */
export interface UsageNote {
  readonly keyId: string;
  /** Method and path, with parameter names in place of their values. */
  readonly endpoint: string;
  readonly status: number;
  /** Empty: no error. */
  readonly errorCode: string;
}

export interface UsageCount extends UsageNote {
  /** Start of the minute that was counted; of its hour after two days, of its day after 60 days. */
  readonly startMs: number;
  readonly count: number;
}

export interface UsageQuestion {
  readonly keyId: string;
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
  /** A minute, an hour or a day. */
  readonly bucketMs: number;
  /** Maximum number of counts in the answer. */
  readonly limit: number;
}

/**
 * Calls per key and endpoint. Counts appear some seconds after the calls; those of a killed process may be
 * lost.
 */
export interface Usage {
  note(call: UsageNote): void;
  /** Oldest first. @throws ServiceError RATE_LIMITED, SERVICE_UNAVAILABLE */
  read(question: UsageQuestion, searcher: Searcher): Promise<readonly UsageCount[]>;
}

/** The caller of a search. */
export interface Searcher {
  /** Searches of the same name take turns. */
  readonly name: string;
  /** Callers with a secret key have their own slots. */
  readonly hasSecretKey: boolean;
}

/** Shares the slots for searches between callers. */
export interface SearchLimiter {
  /**
   * Runs a search when it is the caller's turn.
   * @throws ServiceError RATE_LIMITED, SERVICE_UNAVAILABLE; and whatever `search` throws
   */
  run<T>(searcher: Searcher, search: () => Promise<T>): Promise<T>;
}
