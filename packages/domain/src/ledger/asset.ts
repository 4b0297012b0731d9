import type { Currency } from "../chain/chain.ts";
import type { Address } from "../ids/hex.ts";

/** What the ledger counts: one currency of the home chain. Amounts are smallest units. */
export interface LedgerAsset {
  readonly chainId: number;
  /** Zero address for the native coin. */
  readonly currency: Address;
}

/** The same text for the same asset: a key for maps. */
export function assetKey({ chainId, currency }: LedgerAsset): string {
  return `${chainId}:${currency}`;
}

/**
 * The order in which charges take a wallet's assets: those called `preferred` first (by symbol, id or price
 * id, whatever the case), then the others, each by address. The order never depends on amounts: the same
 * charge on the same book always takes the same.
 */
export function inChargeOrder(currencies: readonly Currency[], preferred: string): Currency[] {
  const wanted = preferred.toLowerCase();
  const rank = ({ symbol, id, priceId }: Currency): number =>
    [symbol, id, priceId].some((word) => word.toLowerCase() === wanted) ? 0 : 1;
  return currencies.toSorted((a, b) => rank(a) - rank(b) || (a.address < b.address ? -1 : 1));
}
