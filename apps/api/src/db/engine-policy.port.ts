/** How the transaction engine and the watchers behave; all times in ms. */
export interface EnginePolicy {
  /**
   * A payment at the head of its lane that is not mined this long after it was last sent is replaced with
   * higher fees.
   */
  readonly stuckAfterMs: number;
  /** Both fees of a replacement are raised by at least this, bps. */
  readonly bumpBps: number;
  /** Variants signed for one nonce; afterwards the last one is sent again and again. */
  readonly maxAttempts: number;
  /** Everything unmined is sent again this often, in case the node forgot it. */
  readonly rebroadcastIntervalMs: number;
  /** Bytes or plans that nobody has sent for this long are picked up: their process has died. */
  readonly orphanedAfterMs: number;
  /** An unmined fill is given up (its nonce goes to a no-op) this long after the request's deadline. */
  readonly cancelAfterDeadlineMs: number;
  /**
   * A request without a deposit is told failed so long after its deadline: clients stop at a failure, and a
   * deposit that is a little late goes back without one.
   */
  readonly expiryGraceMs: number;
  /** Fills between different assets that may be begun per minute for one asset, whole USD. */
  readonly maxPriceExposureUsd: number;
  /** How long a fill waits for inventory before the deposit is refunded. */
  readonly inventoryWaitMs: number;
  /**
   * Gas of reverted fills within 24 hours that the solver pays itself, USD with 18 decimals. Above it no fill
   * is made that runs foreign code.
   */
  readonly maxUnpaidBurntUsd: bigint;
  /** Refunds within 24 hours that settlement can never repay, USD with 18 decimals. */
  readonly maxUnrepaidRefundsUsd: bigint;
  /** A deposit of no known request goes back so long after it was seen; undefined: never by itself. */
  readonly unattributedRefundAfterMs?: number | undefined;
  /** An app pays for a fast fill whose deposit has not come so long after the order's deadline. */
  readonly fastFillGraceMs: number;
  /**
   * Whole USD of gas that reverted fast fills of one app balance may burn in 24 hours before further ones are
   * refused.
   */
  readonly maxBurntFastFillUsd: number;
  /**
   * The network settles a fill against deposits that are younger by so much at most; undefined: nothing is
   * settled here.
   */
  readonly fillLeadMs?: number | undefined;
  /** How often lanes are looked after. */
  readonly nudgeIntervalMs: number;
  /**
   * How often stored state is gone through for what stands too long, and lanes are compared with their
   * chains.
   */
  readonly reconcileIntervalMs: number;
  /** A leg that stood so long without a job that waits for it has lost its job, and gets another. */
  readonly overdueAfterMs: number;
  /** Blocks read in one step while catching up. */
  readonly maxScanBlocks: number;
}
