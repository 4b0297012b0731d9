import type { Address, Currency } from "@causeway/domain";

/** One chain's named tokens, prepared for search. */
export interface TokenIndex {
  readonly tokens: readonly IndexedToken[];
  readonly byAddress: ReadonlyMap<Address, IndexedToken>;
}

export interface IndexedToken {
  readonly currency: Currency;
  /** From this instance's configuration, not from a token list. */
  readonly configured: boolean;
  /** Lower case. */
  readonly symbol: string;
  readonly name: string;
  /** Position in its chain's list. */
  readonly position: number;
}

/** Indexes of the catalog's arrays, each built once: a large list is not lower-cased for every query. */
export function tokenIndexes(): (
  named: readonly Currency[],
  isConfigured: (currency: Currency) => boolean,
) => TokenIndex {
  const indexes = new WeakMap<readonly Currency[], TokenIndex>();
  return (named, isConfigured) => {
    const cached = indexes.get(named);
    if (cached !== undefined) return cached;
    const tokens = named.map((currency, position) => ({
      currency,
      configured: isConfigured(currency),
      symbol: currency.symbol.toLowerCase(),
      name: currency.name.toLowerCase(),
      position,
    }));
    const index = { tokens, byAddress: new Map(tokens.map((token) => [token.currency.address, token])) };
    indexes.set(named, index);
    return index;
  };
}
