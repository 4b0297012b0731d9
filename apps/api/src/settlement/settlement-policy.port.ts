/** How settlement behaves; all times in ms. */
export interface SettlementPolicy {
  /** Pause between two rounds. */
  readonly intervalMs: number;
  /** After a failure the next try waits so long, doubling up to the most. */
  readonly retryMs: number;
  readonly maxRetryMs: number;
  /**
   * A payment that an oracle rejected is asked about again after so long: somebody may have mended what was
   * wrong.
   */
  readonly rejectedRetryMs: number;
  /** Payments that are asked about at once. */
  readonly concurrency: number;
  /** Most executions that one transaction carries. */
  readonly batchSize: number;
  /** A transaction that is not mined so long after it was signed is replaced with higher fees. */
  readonly stuckAfterMs: number;
  readonly rebroadcastIntervalMs: number;
  readonly bumpBps: number;
  readonly maxAttempts: number;
}
