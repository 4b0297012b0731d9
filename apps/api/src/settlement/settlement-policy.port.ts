/** Settings of settlement; all times in ms. */
export interface SettlementPolicy {
  /** Pause between two rounds. */
  readonly intervalMs: number;
  /** Delay before a retry; doubles with each failure up to the maximum. */
  readonly retryMs: number;
  readonly maxRetryMs: number;
  /** Delay before asking again about a payment that an oracle rejected: its cause may have been fixed. */
  readonly rejectedRetryMs: number;
  /** Payments in progress at once. */
  readonly concurrency: number;
  /** Maximum number of executions per transaction. */
  readonly batchSize: number;
  /** A transaction that is not mined this long after signing is replaced with higher fees. */
  readonly stuckAfterMs: number;
  readonly rebroadcastIntervalMs: number;
  readonly bumpBps: number;
  readonly maxAttempts: number;
}
