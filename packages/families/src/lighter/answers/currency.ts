import type { RecordedTransfer } from "../answers.ts";

/** USDC, the collateral of perpetuals, with six decimals. */
const USDC_ASSET = 3n;
const PERPETUALS_ROUTE = 0n;
const SPOT_ROUTE = 1n;

/**
 * The currency in which a transfer arrives: `0` for USDC in the perpetuals balance, otherwise the asset's
 * index.
 */
export function arrivalCurrency({
  assetIndex,
  toRouteType,
}: Pick<RecordedTransfer, "assetIndex" | "toRouteType">): string {
  return assetIndex === USDC_ASSET && toRouteType === PERPETUALS_ROUTE ? "0" : assetIndex.toString();
}

/**
 * Whether the owner can use the asset in the balance in which it arrives: USDC in either balance, all others
 * only in the spot balance.
 */
export function isSpendable({
  assetIndex,
  toRouteType,
}: Pick<RecordedTransfer, "assetIndex" | "toRouteType">): boolean {
  return toRouteType === SPOT_ROUTE || (assetIndex === USDC_ASSET && toRouteType === PERPETUALS_ROUTE);
}

/**
 * Whether a transfer's USDC leaves and arrives in the same kind of balance (perpetuals or spot), so that its
 * fee is charged in the same currency.
 */
export function isPaidFromOneBalance({
  assetIndex,
  fromRouteType,
  toRouteType,
}: Pick<RecordedTransfer, "assetIndex" | "fromRouteType" | "toRouteType">): boolean {
  return assetIndex === USDC_ASSET && fromRouteType === toRouteType;
}
