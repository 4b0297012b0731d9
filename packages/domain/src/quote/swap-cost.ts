import { BPS } from "../money/bps.ts";
import { amountToUsdDown, convertDown } from "../money/usd.ts";
import type { PricedUnit } from "../money/usd.ts";
import type { SwapAmounts } from "./route-parts.ts";

/** A swap, and what its input would buy at the pools' current price after fees (`spotOut`). */
export interface SpotSwap extends SwapAmounts {
  readonly spotOut: bigint;
}

/**
 * A swap's loss in bps of the input, rounded down; negative for a gain. The larger of the losses against the
 * pools' price and against USD prices. Without a USD price on one side, only the pools' price counts.
 */
export function swapImpactBps(
  { amountIn, amountOut, spotOut }: SpotSwap,
  from: PricedUnit,
  to: PricedUnit,
): bigint {
  const spotLossBps = spotOut === 0n ? 0n : ((spotOut - amountOut) * BPS) / spotOut;
  const inputUsd = amountToUsdDown(amountIn, from);
  const outputUsd = amountToUsdDown(amountOut, to);
  const priceLossBps =
    inputUsd === 0n || outputUsd === 0n ? spotLossBps : ((inputUsd - outputUsd) * BPS) / inputUsd;
  return priceLossBps > spotLossBps ? priceLossBps : spotLossBps;
}

/**
 * What a swap in the fill loses against its pools' price, in base units of the deposit, rounded down. A
 * sponsor pays at most this part of the swap.
 * @param paid the currency that is swapped
 */
export function swapLoss(
  { amountIn, amountOut, spotOut }: SpotSwap,
  paid: PricedUnit,
  deposited: PricedUnit,
): bigint {
  if (spotOut <= amountOut) return 0n;
  return convertDown(amountIn - (amountIn * amountOut + spotOut - 1n) / spotOut, paid, deposited);
}
