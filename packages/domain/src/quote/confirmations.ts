import type { ConfirmationTier } from "../chain/chain.ts";

/** Blocks that a deposit of this value (USD, 18 decimals) needs: those of the first tier it lies below; the last tier has no bound. @throws RangeError for tiers that leave the value out. */
export function confirmationsFor(tiers: readonly ConfirmationTier[], valueUsd: bigint): number {
  for (const tier of tiers)
    if (tier.belowUsd === undefined || valueUsd < tier.belowUsd) return tier.confirmations;
  throw new RangeError("the last confirmation tier has a bound");
}
