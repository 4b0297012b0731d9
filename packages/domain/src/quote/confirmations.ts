import type { ConfirmationTier } from "../chain/chain.ts";

/**
 * Blocks that a deposit of this value (USD, 18 decimals) needs: those of the first tier it lies below; the
 * last tier has no bound.
 *
 * @throws RangeError for tiers that leave the value out.
 */
export function confirmationsFor(tiers: readonly ConfirmationTier[], valueUsd: bigint): number {
  for (const tier of tiers)
    if (tier.belowUsd === undefined || valueUsd < tier.belowUsd) return tier.confirmations;
  throw new RangeError("confirmationTiers: the last tier must not set belowUsd");
}

/**
 * Height at which a deposit in `block` has `confirmations`. Zero is served like one: what is in no block
 * cannot be proven to be there.
 */
export function confirmAtBlock(block: bigint, confirmations: number): bigint {
  return block + BigInt(Math.max(confirmations, 1)) - 1n;
}
