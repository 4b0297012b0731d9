import type { CurrencyClass } from "../chain/chain.ts";
import { bpsOfUp } from "../money/bps.ts";

/** What a wallet's balance can be asked for. */
export const balancePurposes = ["fastFill", "claim", "sponsorship"] as const;
export type BalancePurpose = (typeof balancePurposes)[number];

/**
 * Whether active holds lessen what a purpose may use. Only the service's own fees and gas are paid out of
 * what is held; whatever moves value to somebody else is bound like a claim.
 */
const countsHolds: Readonly<Record<BalancePurpose, boolean>> = {
  fastFill: true,
  claim: true,
  sponsorship: false,
};

/** A wallet's standing, all USD with 18 decimals and none negative. */
export interface Standing {
  /** Worth of all balances, rounded down. */
  readonly balanceUsd: bigint;
  /**
   * Worth of all that the wallet owes, rounded up. A debt lessens every purpose: it stands until a credit
   * repays it.
   */
  readonly owedUsd: bigint;
  /** Sum of the active holds. */
  readonly heldUsd: bigint;
  /** What price moves may cost before a hold falls due, see {@link haircutUsd}. */
  readonly haircutUsd: bigint;
}

/**
 * Part of a balance's worth that does not count as collateral of fast fills, bps by class. A hold may stand
 * for days: at full worth it would be a put option that costs nothing, because what a fallen balance no
 * longer covers is owed by nobody who pays.
 */
const HAIRCUT_BPS: Readonly<Record<CurrencyClass, number>> = { stable: 0, major: 5_000, minor: 7_000 };

/** The haircut on a balance worth `usd`, rounded up. */
export function haircutOf(currencyClass: CurrencyClass, usd: bigint): bigint {
  return bpsOfUp(usd, HAIRCUT_BPS[currencyClass]);
}

/**
 * A hold without a price to go by counts this many times its greatest known worth, before its haircut. Fills
 * of it are refused meanwhile, but a claim of what is left cannot be undone, so the margin has to last until
 * there is a price again. Listed assets have not tripled in an outage.
 */
const UNPRICED_HOLD_FACTOR = 3n;

/**
 * What a hold counts while its currency has no price that can be believed.
 *
 * @param lastUsd its worth at the last price known, however old
 */
export function unpricedHoldUsd(placedUsd: bigint, lastUsd: bigint | undefined): bigint {
  return (lastUsd !== undefined && lastUsd > placedUsd ? lastUsd : placedUsd) * UNPRICED_HOLD_FACTOR;
}

/** What a wallet has of one asset, and what its holds have promised of it: USD with 18 decimals. */
export interface Position {
  readonly priceId: string;
  readonly class: CurrencyClass;
  readonly balanceUsd: bigint;
  readonly heldUsd: bigint;
}

/**
 * The haircut on all positions. A volatile asset that is held may rise as far as one that vouches may fall.
 * Where a wallet has and owes the same asset the greater side counts, once: so what a claim takes never
 * raises the haircut.
 */
export function haircutUsd(positions: readonly Position[]): bigint {
  const assets = new Map<string, Position>();
  for (const one of positions) {
    const { balanceUsd, heldUsd } = assets.get(one.priceId) ?? { balanceUsd: 0n, heldUsd: 0n };
    const sum = { balanceUsd: balanceUsd + one.balanceUsd, heldUsd: heldUsd + one.heldUsd };
    assets.set(one.priceId, { ...one, ...sum });
  }
  let usd = 0n;
  for (const { class: currencyClass, balanceUsd, heldUsd } of assets.values())
    usd += haircutOf(currencyClass, balanceUsd > heldUsd ? balanceUsd : heldUsd);
  return usd;
}

/**
 * What `purpose` may use of the balance, USD with 18 decimals, never below zero. Fast fills are backed by the
 * balance less its haircut; while anything is held, claims must leave as much, or stablecoins could be
 * claimed and volatile balances left behind a hold.
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
