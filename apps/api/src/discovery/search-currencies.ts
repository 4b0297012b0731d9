import type { Currency } from "@causeway/domain";
import type { CurrenciesInput, ListedCurrency } from "@causeway/wire";
import type { ChainDirectory, RequestEnd } from "../chains/chains.port.ts";
import type { TokenBook } from "../markets/tokens/token-book.port.ts";
import type { TokenCatalog } from "../markets/tokens/token-catalog.port.ts";
import { readCurrencyQuestion } from "./currency-question.ts";
import { findUnlisted } from "./find-unlisted.ts";
import { toListedCurrency } from "./listed-currency.ts";
import { tokenIndexes } from "./token-index.ts";
import type { IndexedToken } from "./token-index.ts";

export interface SearchServices {
  readonly chains: ChainDirectory;
  readonly tokens: TokenBook & TokenCatalog;
}

/** A matching token and its sort keys. */
interface Found extends IndexedToken {
  readonly relevance: number;
  /** Position of its chain. */
  readonly chainPlace: number;
}

/**
 * Finds currencies. Configured currencies come before listed ones; then better matches, then the position in
 * the list, then the chain, so that the order is stable. Tokens that only their chain knows come last, and
 * only on request.
 */
export function createCurrencySearch(
  services: SearchServices,
): (input: CurrenciesInput) => Promise<readonly ListedCurrency[]> {
  const indexOf = tokenIndexes();

  return async (input) => {
    const question = readCurrencyQuestion(services.chains, input);
    const isConfigured = ({ chainId, address }: Currency): boolean =>
      services.chains.currency(chainId, address) !== undefined;
    const search = (connected: RequestEnd, chainPlace: number): Found[] => {
      const index = indexOf(services.tokens.listTokens(connected.chain.id), isConfigured);
      // An address identifies at most one token: no need to search all.
      const address = question.addressOn(connected.chain);
      const only = address && index.byAddress.get(address);
      const candidates = address === undefined ? index.tokens : only === undefined ? [] : [only];
      const best = new Map<string, number>();
      return candidates.flatMap((token) => {
        const relevance = question.fits(token, connected);
        if (relevance === undefined) return [];
        // Keep only the first of equally good matches, so that a list of thousands need not be sorted.
        const alike = `${token.configured}:${relevance}`;
        const taken = best.get(alike) ?? 0;
        if (taken >= question.limit) return [];
        best.set(alike, taken + 1);
        return [{ ...token, relevance, chainPlace }];
      });
    };
    const found = question.chains.flatMap(search);
    found.sort(compareFound);
    const unlisted = await findUnlisted(services, question, found);
    const all = [...found.map(({ currency }) => currency), ...unlisted];
    if (input.includeAllChains === true) all.push(...sameAssetsElsewhere(services, all));
    return all.slice(0, question.limit).map((one) => toListedCurrency(services.chains, one));
  };
}

function compareFound(one: Found, other: Found): number {
  return (
    Number(other.configured) - Number(one.configured) ||
    one.relevance - other.relevance ||
    one.place - other.place ||
    one.chainPlace - other.chainPlace
  );
}

/** The assets of `found` on the chains where they were not found. */
function sameAssetsElsewhere({ chains }: SearchServices, found: readonly Currency[]): Currency[] {
  const ids = new Set(found.map(({ id }) => id));
  const known = new Set(found);
  return [...chains.all, ...chains.nonEvmChains]
    .flatMap(({ chain }) => [chain.native, ...chain.tokens])
    .filter((currency) => ids.has(currency.id) && !known.has(currency));
}
