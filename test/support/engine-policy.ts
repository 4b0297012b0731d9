import { fixedEnginePolicy } from "../../apps/api/src/config/engine.ts";
import type { EnginePolicy } from "../../apps/api/src/db/engine-policy.port.ts";

/**
 * The timing of production, because tests control the clock. All limits are so high that only tests of a
 * limit reach it.
 */
export const enginePolicy: EnginePolicy = {
  ...fixedEnginePolicy,
  maxAttempts: 4,
  inventoryWaitMs: 300_000,
  maxUnpaidRevertedGasUsd: 10n ** 24n,
  maxUnrepaidRefundsUsd: 10n ** 36n,
  maxPriceExposureUsd: 100_000_000,
  fastFillGraceMs: 600_000,
  maxFastFillRevertedGasUsd: 100,
  maxScanBlocks: 500,
};
