import type { Currency } from "../chain/chain.ts";
import type { Address } from "../ids/hex.ts";

/** A currency of the home chain that the ledger counts, in base units. */
export interface LedgerAsset {
  readonly chainId: number;
  /** Zero address for the native token. */
  readonly currency: Address;
}

/** The same text for the same asset: a key for maps. */
export function assetKey({ chainId, currency }: LedgerAsset): string {
  return `${chainId}:${currency}`;
}

/**
 * The order in which charges use a wallet's assets: the `preferred` ones first (by symbol, id or price id, in
 * any case), then the others, each by address. It never depends on amounts, so that the same charge always
 * uses the same assets.
 */
export function inChargeOrder(currencies: readonly Currency[], preferred: string): Currency[] {
  const preferredName = preferred.toLowerCase();
  const rank = ({ symbol, id, priceId }: Currency): number =>
    [symbol, id, priceId].some((name) => name.toLowerCase() === preferredName) ? 0 : 1;
  return currencies.toSorted((a, b) => rank(a) - rank(b) || (a.address < b.address ? -1 : 1));
}
