import type { CurrencyClass } from "../chain/chain.ts";
import { bpsOfUp } from "../money/bps.ts";

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
  /** What volatile balances may lose before a hold falls due, see {@link haircutOf}. */
  readonly haircutUsd: bigint;
}

/**
 * Part of a balance's worth that does not count as collateral of fast fills, bps by class. A hold may stand for days: at full worth it would
 * be a put option that costs nothing, because what a fallen balance no longer covers is owed by nobody who pays.
 */
const HAIRCUT_BPS: Readonly<Record<CurrencyClass, number>> = { stable: 0, major: 5_000, minor: 7_000 };

/** The haircut on a balance worth `usd`, rounded up. */
export function haircutOf(currencyClass: CurrencyClass, usd: bigint): bigint {
  return bpsOfUp(usd, HAIRCUT_BPS[currencyClass]);
}

/**
 * What `purpose` may use of the balance, USD with 18 decimals, never below zero. Fast fills are backed by the balance less its haircut; while
 * anything is held, claims must leave as much, or stablecoins could be claimed and volatile balances left behind a hold.
 */
export function availableFor(
  purpose: BalancePurpose,
  { balanceUsd, owedUsd, heldUsd, haircutUsd }: Standing,
): bigint {
  const reservedUsd =
    !countsHolds[purpose] || (purpose === "claim" && heldUsd === 0n) ? 0n : heldUsd + haircutUsd;
  const left = balanceUsd - owedUsd - reservedUsd;
  return left > 0n ? left : 0n;
}
