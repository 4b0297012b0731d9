import type { Chain, NonEvmChain } from "@causeway/domain";
import type { RequestRecord } from "../db/records.port.ts";

/** How long a refund is attempted: a year, because a debt does not lapse. */
const REFUND_CANCEL_AFTER_MS = 365 * 24 * 3600 * 1000;
/** Minimum time for a refund to be mined before the order's deadline, in seconds. */
const MIN_MINING_SECONDS = 600;
const MINING_BLOCKS = 6;

/**
 * When a pending refund is canceled and planned again. An attestable refund is canceled early enough to be
 * mined before its order's deadline: later it would not be attestable.
 */
export function refundCancelAfterMs(
  chain: Pick<Chain | NonEvmChain, "blockTimeSeconds">,
  request: RequestRecord | undefined,
  isAttestable: boolean,
  nowMs: number,
): number {
  const latestMs = nowMs + REFUND_CANCEL_AFTER_MS;
  const deadline = request?.terms.order.inputs[0]?.refunds[0]?.deadline;
  return isAttestable && deadline !== undefined
    ? Math.min(latestMs, (deadline - miningSecondsOf(chain)) * 1000)
    : latestMs;
}

/** How long before its order's deadline a refund must be broadcast to be mined in time. */
export function miningSecondsOf({ blockTimeSeconds }: Pick<Chain | NonEvmChain, "blockTimeSeconds">): number {
  return Math.max(MIN_MINING_SECONDS, MINING_BLOCKS * blockTimeSeconds);
}
