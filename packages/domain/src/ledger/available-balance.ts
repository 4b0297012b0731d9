/** What a wallet's balance can be used for. */
export const balancePurposes = ["fastFill", "claim", "sponsorship"] as const;
export type BalancePurpose = (typeof balancePurposes)[number];

/**
 * Whether active holds reduce what a purpose may use. Held funds may only pay the service's own fees and gas;
 * moving value to anyone else is restricted like a claim.
 */
const countsHolds: Readonly<Record<BalancePurpose, boolean>> = {
  fastFill: true,
  claim: true,
  sponsorship: false,
};

/** A wallet's totals, all in USD with 18 decimals and not negative. */
export interface Standing {
  /** Value of all balances, rounded down. */
  readonly balanceUsd: bigint;
  /** Value of all debts, rounded up. A debt reduces every purpose until a credit repays it. */
  readonly owedUsd: bigint;
  /** Sum of the active holds. */
  readonly heldUsd: bigint;
  /** The possible loss from price moves before a hold is due; see `haircutUsd` in `collateral-haircut.ts`. */
  readonly haircutUsd: bigint;
}

/**
 * What `purpose` may use of the balance, USD with 18 decimals, never negative. Fast fills must always leave
 * the holds and the haircut; claims must once there is a hold. Otherwise an app could claim its stablecoins
 * and back a hold with volatile balances alone.
 */
export function availableFor(
  purpose: BalancePurpose,
  { balanceUsd, owedUsd, heldUsd, haircutUsd }: Standing,
): bigint {
  const reservedUsd =
    !countsHolds[purpose] || (purpose === "claim" && heldUsd === 0n) ? 0n : heldUsd + haircutUsd;
  const availableUsd = balanceUsd - owedUsd - reservedUsd;
  return availableUsd > 0n ? availableUsd : 0n;
}
