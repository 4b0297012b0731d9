import type { SettingValues } from "@causeway/config";
import { setting } from "@causeway/config";
import { parseUnits } from "viem";
import type { EnginePolicy } from "../db/engine-policy.port.ts";

const { integer, usd } = setting;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const millis = (name: string, defaultMs: number, describe: string) =>
  integer({ name, min: 1, max: DAY_MS, default: defaultMs, describe });
const wholeUsd = (name: string, defaultUsd: number, describe: string) =>
  integer({ name, min: 1, max: 1_000_000_000, default: defaultUsd, describe });

/** Limits on what the solver may lose, and how long it waits before it gives up. */
export const engineSettings = {
  maxPriceExposureUsd: wholeUsd(
    "PRICE_EXPOSURE_USD_PER_MINUTE",
    250_000,
    "Maximum value of fills between different assets per minute and asset, in whole USD, including gas top-ups and call value. Further fills wait for the next minute, and `POST /execute` returns 503 for calls with value. The first fill of a minute is always sent. Limits the loss from a wrong price until someone notices it.",
  ),
  inventoryWaitMs: millis(
    "FILL_INVENTORY_WAIT_MS",
    300_000,
    "How long a fill may wait for inventory, or fail because of a node or a price, before its deposit is refunded. It is not refunded while the destination chain may contain a payment that the database does not know.",
  ),
  revertedGasDailyUsd: usd({
    name: "REVERTED_GAS_DAILY_USD",
    default: "100",
    describe:
      "Maximum gas cost that the solver pays per 24 hours for reverted fills whose deposits do not cover it. Above it, fills wait if they swap, make calls, top up gas or pay native token to a contract. After `FILL_INVENTORY_WAIT_MS`, their deposits are refunded.",
  }),
  unattributedRefundAfterMs: integer({
    name: "UNATTRIBUTED_REFUND_AFTER_MS",
    min: 0,
    max: 30 * DAY_MS,
    default: HOUR_MS,
    describe:
      "When a deposit without a known order is returned to its depositor: this long after it was detected, once it is final. Such returns may use half of `UNREPAID_REFUNDS_DAILY_USD`. 0: only `operator refund` returns such deposits. Use 0 if other solvers fill deposits of the same depository, because their orders are unknown here.",
  }),
  unrepaidRefundsDailyUsd: usd({
    name: "UNREPAID_REFUNDS_DAILY_USD",
    default: "1000",
    describe:
      "Maximum cost per 24 hours of refunds that settlement may never repay. These are refunds of deposits without an order, refunds of deposits whose currency or depositor differs from the order, and refunds sent after, or shortly before, the order's refund deadline. A refund above this limit is left to the operator (`MANUAL_REFUND_REQUIRED`). A refund above what is left of the limit waits. `operator funds` lists both, and `operator refund` releases them.",
  }),
  fastFillGraceMs: millis(
    "FAST_FILL_GRACE_MS",
    HOUR_MS,
    "How long after the order's deadline a fast fill may wait for its deposit before the app is charged for it. A deposit that arrives later, but while its fill can still be settled, is still credited, at its value at that time.",
  ),
  maxFastFillRevertedGasUsd: wholeUsd(
    "FAST_FILL_REVERTED_GAS_DAILY_USD",
    100,
    "Maximum gas cost of reverted fast fills per app balance and 24 hours, in whole USD. Above it, further fast fills are refused (`dailyBurntUsd`). The app is charged for that gas.",
  ),
  maxScanBlocks: integer({
    name: "SCAN_MAX_BLOCKS",
    min: 1,
    max: 100_000,
    default: 500,
    describe: "Blocks per log query while catching up. Lower it if your node provider limits the range.",
  }),
};

/** Pace of the transaction engine and the watchers. The fields are described in `EnginePolicy`. */
export const fixedEnginePolicy = {
  stuckAfterMs: 30_000,
  maxAttempts: 12,
  rebroadcastIntervalMs: 5_000,
  orphanedAfterMs: 2_000,
  cancelAfterDeadlineMs: 60_000,
  expiryGraceMs: 600_000,
  laneIntervalMs: 1_000,
  reconcileIntervalMs: 3_000,
  overdueAfterMs: 5_000,
} as const satisfies Partial<EnginePolicy>;

/** @param fillLeadMs undefined: this deployment does not settle */
export function enginePolicy(
  engine: SettingValues<typeof engineSettings>,
  fillLeadMs: number | undefined,
): EnginePolicy {
  const { unrepaidRefundsDailyUsd, revertedGasDailyUsd, unattributedRefundAfterMs, ...limits } = engine;
  return {
    ...fixedEnginePolicy,
    ...limits,
    unattributedRefundAfterMs: unattributedRefundAfterMs === 0 ? undefined : unattributedRefundAfterMs,
    maxUnpaidRevertedGasUsd: parseUnits(revertedGasDailyUsd, 18),
    maxUnrepaidRefundsUsd: parseUnits(unrepaidRefundsDailyUsd, 18),
    fillLeadMs,
  };
}
