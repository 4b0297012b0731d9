import { BPS, divUp } from "@causeway/domain";

/**
 * Bounds of what is expected by itself, bps: below, ordinary trades of others would fail the exchange; above,
 * whoever watches it would take the room.
 */
export const MIN_SLIPPAGE_BPS = 20;
export const MAX_SLIPPAGE_BPS = 500;
/** Of its own impact: who moves a pool far meets it moved by others as far by a part of that. */
const SHARE_OF_IMPACT_BPS = 2_500n;

/**
 * How far an exchange may come out below what was foretold, bps: a base, a part of its own impact (how
 * shallow the pools are) and how far their prices reached lately. Pure.
 *
 * @param spotOut what the same input buys at the price of the smallest trade
 * @param movedBps of each pool on the way
 */
export function autoSlippageBps(amountOut: bigint, spotOut: bigint, movedBps: readonly number[]): number {
  const impactBps = spotOut <= amountOut ? 0n : divUp((spotOut - amountOut) * BPS, spotOut);
  const ofImpact = Number(divUp(impactBps * SHARE_OF_IMPACT_BPS, BPS));
  const moved = movedBps.reduce((sum, one) => sum + one, 0);
  return Math.min(MAX_SLIPPAGE_BPS, MIN_SLIPPAGE_BPS + ofImpact + moved);
}
