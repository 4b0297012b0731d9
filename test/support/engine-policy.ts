import type { EnginePolicy } from "../../apps/api/src/db/engine-policy.port.ts";

/** The pace of production, since tests move the clock, with limits that only their own tests reach. */
export const enginePolicy: EnginePolicy = {
  stuckAfterMs: 30_000,
  bumpBps: 1_250,
  maxAttempts: 4,
  rebroadcastIntervalMs: 5_000,
  orphanedAfterMs: 2_000,
  cancelAfterDeadlineMs: 60_000,
  expiryGraceMs: 600_000,
  inventoryWaitMs: 300_000,
  maxUnpaidBurntUsd: 10n ** 24n,
  maxUnrepaidRefundsUsd: 10n ** 36n,
  maxPriceExposureUsd: 100_000_000,
  fastFillGraceMs: 600_000,
  maxBurntFastFillUsd: 100,
  nudgeIntervalMs: 1_000,
  reconcileIntervalMs: 3_000,
  overdueAfterMs: 5_000,
  maxScanBlocks: 500,
};
