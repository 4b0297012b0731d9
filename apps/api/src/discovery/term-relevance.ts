import type { IndexedToken } from "./token-index.ts";

/**
 * How well a token matches a lower-case search term, 0 is best: exact symbol, its beginning, the name's
 * beginning, a part of either. Undefined: no match. Pure.
 */
export function termRelevance(
  { symbol, name, currency }: Pick<IndexedToken, "symbol" | "name" | "currency">,
  term: string,
): number | undefined {
  if (symbol === term) return 0;
  if (symbol.startsWith(term)) return 1;
  if (name.startsWith(term)) return 2;
  if (symbol.includes(term)) return 3;
  if (name.includes(term)) return 4;
  // Shorter prefixes match too many addresses.
  return term.length >= 6 && term.startsWith("0x") && currency.address.startsWith(term) ? 5 : undefined;
}
