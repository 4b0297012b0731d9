import { BPS } from "../money/bps.ts";
import { divUp } from "../money/mul-div.ts";

/**
 * Limits of automatic slippage, in bps. Below the minimum, ordinary volatility reverts the swap; above the
 * maximum, it invites sandwiching.
 */
export const MIN_SLIPPAGE_BPS = 20;
export const MAX_SLIPPAGE_BPS = 500;
/** Extra slippage for shallow pools: a quarter of the swap's own price impact. */
const SHARE_OF_IMPACT_BPS = 2_500n;

/**
 * How far the output of a swap may fall below its estimate, bps: a base, a share of its own impact (for
 * shallow pools), and the recent price range of the pools.
 * @param spotOut output of the same input at the price of the smallest trade
 * @param movedBps recent price range of each pool on the path, bps
 */
export function autoSlippageBps(amountOut: bigint, spotOut: bigint, movedBps: readonly number[]): number {
  const impactBps = spotOut <= amountOut ? 0n : divUp((spotOut - amountOut) * BPS, spotOut);
  const impactShare = Number(divUp(impactBps * SHARE_OF_IMPACT_BPS, BPS));
  const moved = movedBps.reduce((sum, bps) => sum + bps, 0);
  return Math.min(MAX_SLIPPAGE_BPS, MIN_SLIPPAGE_BPS + impactShare + moved);
}
