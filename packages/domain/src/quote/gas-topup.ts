import { convertUp } from "../money/usd.ts";
import type { PricedUnit } from "../money/usd.ts";

/** Native coin that the recipient gets beside the output, in the same transaction. */
export interface GasTopup {
  /** Wei of the destination chain. */
  readonly amount: bigint;
}

/** What a client that names no amount gets, USD with 6 decimals. */
export const DEFAULT_TOPUP_USD = 2_000_000n;

/** What a top-up costs in the currency of the deposit, rounded up. */
export function topupCost(
  topupWei: bigint,
  { destinationNative, origin }: { readonly destinationNative: PricedUnit; readonly origin: PricedUnit },
): bigint {
  return convertUp(topupWei, destinationNative, origin);
}
