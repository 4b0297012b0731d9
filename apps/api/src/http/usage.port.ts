/** One answered call. */
export interface UsageNote {
  readonly keyId: string;
  /** Method and path, parameters by name. */
  readonly endpoint: string;
  readonly status: number;
  /** Empty: none. */
  readonly errorCode: string;
}

export interface UsageCount extends UsageNote {
  /** Start of the minute, hour or day: of the hour after two days, of the day after sixty. */
  readonly startMs: number;
  readonly count: number;
}

export interface UsageQuestion {
  readonly keyId: string;
  readonly fromMs: number;
  /** Not included. */
  readonly toMs: number;
  /** A minute, an hour or a day. */
  readonly bucketMs: number;
  /** Counts of the answer at most. */
  readonly limit: number;
}

/**
 * How often keys called what. Counts appear some seconds after the calls; those of a process that is killed
 * may be lost.
 */
export interface Usage {
  note(call: UsageNote): void;
  /** Oldest first. @throws ServiceError RATE_LIMITED, SERVICE_UNAVAILABLE */
  read(question: UsageQuestion, searcher: Searcher): Promise<readonly UsageCount[]>;
}

/** Who searches. */
export interface Searcher {
  /** Searches of one name take turns. */
  readonly name: string;
  /** Callers with a secret key have places of their own. */
  readonly hasSecretKey: boolean;
}

/** The places of searches, shared between callers. */
export interface SearchTurns {
  /**
   * Runs a search once it is the caller's turn.
   * @throws ServiceError RATE_LIMITED, SERVICE_UNAVAILABLE; and whatever `search` throws
   */
  run<T>(searcher: Searcher, search: () => Promise<T>): Promise<T>;
}
