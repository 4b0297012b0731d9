import type { ExchangeTransfer } from "../answers.ts";

/** The collateral of perpetuals, dollars with six decimals. */
const DOLLAR_ASSET = 3n;
const PERPETUALS_ROUTE = 0n;
const SPOT_ROUTE = 1n;

/**
 * The currency in which a transfer arrives: `0` for dollars that secure perpetuals, else the number of its
 * asset.
 */
export function arrivesIn({
  assetIndex,
  toRouteType,
}: Pick<ExchangeTransfer, "assetIndex" | "toRouteType">): string {
  return assetIndex === DOLLAR_ASSET && toRouteType === PERPETUALS_ROUTE ? "0" : assetIndex.toString();
}

/**
 * Whether an asset arrives where its owner can use it as that asset: dollars on either side, all others in
 * the spot balance only.
 */
export function isSpendable({
  assetIndex,
  toRouteType,
}: Pick<ExchangeTransfer, "assetIndex" | "toRouteType">): boolean {
  return toRouteType === SPOT_ROUTE || (assetIndex === DOLLAR_ASSET && toRouteType === PERPETUALS_ROUTE);
}

/**
 * Whether a transfer's fee, which is in dollars, leaves the balance that the transfer itself leaves and
 * arrives in.
 */
export function isPaidFromOneBalance({
  assetIndex,
  fromRouteType,
  toRouteType,
}: Pick<ExchangeTransfer, "assetIndex" | "fromRouteType" | "toRouteType">): boolean {
  return assetIndex === DOLLAR_ASSET && fromRouteType === toRouteType;
}
