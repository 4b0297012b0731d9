import { fixedEnginePolicy } from "../../apps/api/src/config/engine.ts";
import type { EnginePolicy } from "../../apps/api/src/db/engine-policy.port.ts";

/**
 * Production timing, because tests control the clock. Limits are so high that only the tests of those limits
 * reach them.
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
