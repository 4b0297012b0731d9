import type { ChainProfile, PricedUnit } from "@causeway/domain";
import { convertUp } from "@causeway/domain";

/**
 * Whether the amount exceeds the cap of a partially disabled chain.
 * @param nativeAmount native tokens that are paid in addition, wei
 */
export function isBeyondCap(
  { partialDisableLimit: limit }: Pick<ChainProfile, "partialDisableLimit">,
  amount: bigint,
  currency: PricedUnit,
  native: PricedUnit,
  nativeAmount = 0n,
): boolean {
  // An amount without a price may be worth more than any cap.
  const isKnown = currency.priceUsd > 0n;
  return limit !== 0n && !(isKnown && convertUp(amount, currency, native) + nativeAmount <= limit);
}
