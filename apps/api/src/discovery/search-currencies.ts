import type { Currency } from "@causeway/domain";
import type { CurrenciesInput, ListedCurrency } from "@causeway/wire";
import type { ChainDirectory, AnyConnectedChain } from "../chains/chains.port.ts";
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
interface Match extends IndexedToken {
  readonly relevance: number;
  /** Position of its chain. */
  readonly chainIndex: number;
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
    const search = (connected: AnyConnectedChain, chainIndex: number): Match[] => {
      const index = indexOf(services.tokens.listTokens(connected.chain.id), isConfigured);
      // An address identifies at most one token: no need to search all.
      const address = question.addressOn(connected.chain);
      const match = address && index.byAddress.get(address);
      const candidates = address === undefined ? index.tokens : match === undefined ? [] : [match];
      const best = new Map<string, number>();
      return candidates.flatMap((token) => {
        const relevance = question.relevanceOf(token, connected);
        if (relevance === undefined) return [];
        // Keep only the first of equally good matches, so that a list of thousands need not be sorted.
        const tier = `${token.configured}:${relevance}`;
        const count = best.get(tier) ?? 0;
        if (count >= question.limit) return [];
        best.set(tier, count + 1);
        return [{ ...token, relevance, chainIndex }];
      });
    };
    const matches = question.chains.flatMap(search);
    matches.sort(compareMatches);
    const unlisted = await findUnlisted(services, question, matches);
    const currencies = [...matches.map(({ currency }) => currency), ...unlisted];
    if (input.includeAllChains === true) currencies.push(...sameAssetsElsewhere(services, currencies));
    return currencies.slice(0, question.limit).map((currency) => toListedCurrency(services.chains, currency));
  };
}

function compareMatches(a: Match, b: Match): number {
  return (
    Number(b.configured) - Number(a.configured) ||
    a.relevance - b.relevance ||
    a.position - b.position ||
    a.chainIndex - b.chainIndex
  );
}

/** The assets of `found` on the chains where they were not found. */
function sameAssetsElsewhere({ chains }: SearchServices, found: readonly Currency[]): Currency[] {
  const ids = new Set(found.map(({ id }) => id));
  const included = new Set(found);
  return [...chains.evmChains, ...chains.nonEvmChains]
    .flatMap(({ chain }) => [chain.native, ...chain.tokens])
    .filter((currency) => ids.has(currency.id) && !included.has(currency));
}
