/** Pace and risk limits of the transaction engine and the watchers; all times in ms. */
export interface EnginePolicy {
  /**
   * A payment at the head of its lane that nodes have had for this long without mining it is replaced with
   * higher fees.
   */
  readonly stuckAfterMs: number;
  /** Maximum number of transactions signed for one nonce; after that, the last one is rebroadcast. */
  readonly maxAttempts: number;
  /** Pending transactions are rebroadcast this often, in case the node dropped them. */
  readonly rebroadcastIntervalMs: number;
  /** Signed bytes or plans not broadcast for this long are picked up by another process. */
  readonly orphanedAfterMs: number;
  /** A pending fill is replaced by a cancel transaction this long after the request's deadline. */
  readonly cancelAfterDeadlineMs: number;
  /**
   * A request without a deposit is reported as failed this long after its deadline. Clients stop polling
   * then, so a slightly late deposit is refunded first.
   */
  readonly expiryGraceMs: number;
  /** Maximum value of fills between different assets per minute and asset, in whole USD. */
  readonly maxPriceExposureUsd: number;
  /** How long a fill waits for inventory before its deposit is refunded. */
  readonly inventoryWaitMs: number;
  /**
   * Gas of reverted fills that the solver pays itself within 24 hours, USD with 18 decimals. Above it, fills
   * that run foreign code wait.
   */
  readonly maxUnpaidRevertedGasUsd: bigint;
  /** Refunds within 24 hours that settlement may never repay, USD with 18 decimals. */
  readonly maxUnrepaidRefundsUsd: bigint;
  /** When a deposit without a known order is returned; undefined: never automatically. */
  readonly unattributedRefundAfterMs?: number | undefined;
  /** The app is charged for a fast fill without a deposit this long after the order's deadline. */
  readonly fastFillGraceMs: number;
  /** Maximum gas of reverted fast fills per app balance and 24 hours, in whole USD. */
  readonly maxFastFillRevertedGasUsd: number;
  /** How much older than its deposit a settled fill may be; undefined: this deployment does not settle. */
  readonly fillLeadMs?: number | undefined;
  /** How often lanes are maintained: pending transactions may need a higher fee or a replacement. */
  readonly laneIntervalMs: number;
  /** How often stored state is checked for overdue work, and lanes are compared with their chains. */
  readonly reconcileIntervalMs: number;
  /** A leg without a queued job for this long has lost its job and gets a new one. */
  readonly overdueAfterMs: number;
  /** Blocks per log query while catching up. */
  readonly maxScanBlocks: number;
}
