import { BPS, bpsOfUp } from "../money/bps.ts";

/**
 * The price at which native tokens are sold: USD with 18 decimals per whole token, including service fee and
 * spread.
 */
export function salePrice(priceUsd: bigint, feeBps: number): bigint {
  return priceUsd + bpsOfUp(priceUsd, feeBps);
}

/** A part of the amount reserved for a sale, at current prices. All USD with 18 decimals. */
export interface SalePartNow {
  /** The part's value when it was reserved. */
  readonly reservedUsd: bigint;
  readonly worthUsd: bigint;
  /** The sale price now, see {@link salePrice}. */
  readonly salePriceUsd: bigint;
  /** The tolerance for price moves since then. */
  readonly honorBps: number;
}

/** Whether the sale, paid by this part, would now cost more than `honorBps` above the agreed sale price. */
export function isSaleBeyondHonor(
  agreedPriceUsd: bigint,
  { reservedUsd, worthUsd, salePriceUsd, honorBps }: SalePartNow,
): boolean {
  return salePriceUsd * reservedUsd * BPS > agreedPriceUsd * worthUsd * (BPS + BigInt(honorBps));
}
