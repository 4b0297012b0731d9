/** What a wallet's balance can be asked for. */
export const balancePurposes = ["fastFill", "claim", "sponsorship"] as const;
export type BalancePurpose = (typeof balancePurposes)[number];

/** Whether active holds lessen what a purpose may use. Only the service's own fees and gas are paid out of what is held; whatever moves value to somebody else is bound like a claim. */
const countsHolds: Readonly<Record<BalancePurpose, boolean>> = {
  fastFill: true,
  claim: true,
  sponsorship: false,
};

/** A wallet's standing, all USD with 18 decimals and none negative. */
export interface Standing {
  /** Worth of all balances, rounded down. */
  readonly balanceUsd: bigint;
  /** Worth of all that the wallet owes, rounded up. A debt lessens every purpose: it stands until a credit repays it. */
  readonly owedUsd: bigint;
  /** Sum of the active holds. */
  readonly heldUsd: bigint;
}

/** What `purpose` may use of the balance, USD with 18 decimals, never below zero. */
export function availableFor(purpose: BalancePurpose, { balanceUsd, owedUsd, heldUsd }: Standing): bigint {
  const left = balanceUsd - owedUsd - (countsHolds[purpose] ? heldUsd : 0n);
  return left > 0n ? left : 0n;
}
