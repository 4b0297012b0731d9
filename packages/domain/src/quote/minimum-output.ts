import { BPS, bpsOfUp } from "../money/bps.ts";
import type { TradeType } from "../request/terms.ts";

/**
 * The guaranteed minimum of a quote. EXACT_OUTPUT guarantees the expected amount; the two other trade types
 * allow the slippage. Rounded up, in the user's favor.
 */
export function minimumOutput(tradeType: TradeType, expected: bigint, slippageBps: number): bigint {
  return tradeType === "EXACT_OUTPUT" ? expected : bpsOfUp(expected, Number(BPS) - slippageBps);
}
