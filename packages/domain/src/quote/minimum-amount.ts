import { BPS, bpsOfUp } from "../money/bps.ts";
import type { TradeType } from "../request/terms.ts";

/**
 * The promise of a quote: the least that may be paid. EXACT_OUTPUT promises the expected amount itself; the
 * two others allow the slippage, rounded up, towards the user.
 */
export function minimumOutput(tradeType: TradeType, expected: bigint, slippageBps: number): bigint {
  return tradeType === "EXACT_OUTPUT" ? expected : bpsOfUp(expected, Number(BPS) - slippageBps);
}
