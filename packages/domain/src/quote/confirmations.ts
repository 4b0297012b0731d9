import type { ConfirmationTier } from "../chain/chain.ts";

/**
 * Blocks that a deposit of this value (USD, 18 decimals) needs: those of the first tier whose bound exceeds
 * it; the last tier has no bound.
 * @throws RangeError if no tier covers the value
 */
export function confirmationsFor(tiers: readonly ConfirmationTier[], valueUsd: bigint): number {
  for (const tier of tiers)
    if (tier.belowUsd === undefined || valueUsd < tier.belowUsd) return tier.confirmations;
  throw new RangeError("confirmationTiers: the last tier must not set belowUsd");
}

/**
 * Height at which a deposit in `block` has `confirmations`. Zero counts as one: a transaction outside a block
 * cannot be proven.
 */
export function confirmAtBlock(block: bigint, confirmations: number): bigint {
  return block + BigInt(Math.max(confirmations, 1)) - 1n;
}
