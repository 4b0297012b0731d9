/** Settings of the transaction engine and the watchers; all times in ms. */
export interface EnginePolicy {
  /**
   * A payment at the head of its lane that is not mined this long after its last broadcast is replaced with
   * higher fees.
   */
  readonly stuckAfterMs: number;
  /** Minimum increase of both fees of a replacement, in bps. */
  readonly bumpBps: number;
  /** Maximum number of variants signed per nonce; afterwards the last one is rebroadcast. */
  readonly maxAttempts: number;
  /** How often pending transactions are rebroadcast, in case a node dropped them. */
  readonly rebroadcastIntervalMs: number;
  /** Unsent transactions or plans this old are picked up: their process has died. */
  readonly orphanedAfterMs: number;
  /** A fill that is not mined this long after the request's deadline is canceled with a no-op. */
  readonly cancelAfterDeadlineMs: number;
  /**
   * How long after its deadline a request without a deposit fails: clients stop at a failure, and a deposit
   * that is slightly late is refunded without one.
   */
  readonly expiryGraceMs: number;
  /** Maximum value of fills between different assets started per minute for one asset, whole USD. */
  readonly maxPriceExposureUsd: number;
  /** How long a fill waits for inventory before the deposit is refunded. */
  readonly inventoryWaitMs: number;
  /**
   * Gas of reverted fills within 24 hours that the solver pays itself, USD with 18 decimals. Above it, fills
   * that run third-party code stop.
   */
  readonly maxUnpaidBurntUsd: bigint;
  /** Maximum refunds within 24 hours that settlement can never repay, USD with 18 decimals. */
  readonly maxUnrepaidRefundsUsd: bigint;
  /**
   * A deposit without a known request is refunded this long after it was seen. Absent: never automatically.
   */
  readonly unattributedRefundAfterMs?: number | undefined;
  /** An app pays for a fast fill whose deposit is missing this long after the order's deadline. */
  readonly fastFillGraceMs: number;
  /**
   * Whole USD of gas that reverted fast fills of one app balance may use in 24 hours before further ones are
   * refused.
   */
  readonly maxBurntFastFillUsd: number;
  /**
   * Maximum time between a fill and a later deposit that the network settles it against. Absent: no
   * settlement here.
   */
  readonly fillLeadMs?: number | undefined;
  /** How often lanes are maintained. */
  readonly nudgeIntervalMs: number;
  /** How often stored state is checked for stuck work, and lanes are compared with their chains. */
  readonly reconcileIntervalMs: number;
  /** A leg without a waiting job for this long has lost its job, and gets another. */
  readonly overdueAfterMs: number;
  /** Blocks read per step while catching up. */
  readonly maxScanBlocks: number;
}
