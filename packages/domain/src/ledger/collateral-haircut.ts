import type { CurrencyClass } from "../chain/chain.ts";
import { bpsOfUp } from "../money/bps.ts";

/**
 * Part of a balance's value that does not count as collateral of fast fills, in bps by class. A hold may last
 * for days. At full value the hold would be a free put option: if the price falls, no one pays for the part
 * that the balance no longer covers.
 */
const HAIRCUT_BPS: Readonly<Record<CurrencyClass, number>> = { stable: 0, major: 5_000, minor: 7_000 };

/** The haircut on a balance worth `usd`, rounded up. */
export function haircutOf(currencyClass: CurrencyClass, usd: bigint): bigint {
  return bpsOfUp(usd, HAIRCUT_BPS[currencyClass]);
}

/**
 * Without a price, a hold counts this many times its highest known value, before its haircut. A claim of the
 * remaining balance cannot be undone, so the margin must suffice until there is a price again. Listed assets
 * have not tripled during an outage.
 */
const UNPRICED_HOLD_FACTOR = 3n;

/**
 * The value at which a hold counts while its currency has no trusted price.
 * @param lastUsd its value at the last known price, regardless of its age
 */
export function unpricedHoldUsd(placedUsd: bigint, lastUsd: bigint | undefined): bigint {
  return (lastUsd !== undefined && lastUsd > placedUsd ? lastUsd : placedUsd) * UNPRICED_HOLD_FACTOR;
}

/** A wallet's balance and holds of one asset, in USD with 18 decimals. */
export interface Position {
  readonly priceId: string;
  readonly class: CurrencyClass;
  readonly balanceUsd: bigint;
  readonly heldUsd: bigint;
}

/**
 * The haircut on all positions. A volatile asset in a hold may rise as much as one in the balance may fall.
 * If a wallet has both in the same asset, only the larger side counts, so that a claim never raises the
 * haircut.
 */
export function haircutUsd(positions: readonly Position[]): bigint {
  const assets = new Map<string, Position>();
  for (const position of positions) {
    const { balanceUsd, heldUsd } = assets.get(position.priceId) ?? { balanceUsd: 0n, heldUsd: 0n };
    const sum = { balanceUsd: balanceUsd + position.balanceUsd, heldUsd: heldUsd + position.heldUsd };
    assets.set(position.priceId, { ...position, ...sum });
  }
  let usd = 0n;
  for (const { class: currencyClass, balanceUsd, heldUsd } of assets.values())
    usd += haircutOf(currencyClass, balanceUsd > heldUsd ? balanceUsd : heldUsd);
  return usd;
}
