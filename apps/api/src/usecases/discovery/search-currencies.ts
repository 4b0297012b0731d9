import type { Address, Currency } from "@causeway/domain";
import { parseAddress, ServiceError } from "@causeway/domain";
import type { CurrenciesInput, ListedCurrency } from "@causeway/wire";
import { wholeNumber } from "@causeway/wire";
import type { ChainDirectory, ConnectedChain } from "../../ports/chains.ts";
import type { TokenBook } from "../../ports/token-book.ts";
import type { TokenCatalog } from "../../ports/token-catalog.ts";
import { findUnlisted } from "./find-unlisted.ts";
import { toListedCurrency } from "./listed-currency.ts";
import { termRelevance } from "./term-relevance.ts";
import { tokenIndexes } from "./token-index.ts";
import type { IndexedToken } from "./token-index.ts";

export interface SearchServices {
  readonly chains: ChainDirectory;
  readonly tokens: TokenBook & TokenCatalog;
}

/** A named token that fits, and what puts it before others. */
interface Found extends IndexedToken {
  readonly relevance: number;
  /** Position of its chain. */
  readonly chainPlace: number;
}

/**
 * Finds currencies by what a client may know of them. What is configured comes before what lists name; among equals the better fit, then the order of configuration and
 * lists, one chain after the other: the same question gets the same order. Tokens that only their chain knows come last, and only when asked for.
 */
export function createCurrencySearch(
  services: SearchServices,
): (input: CurrenciesInput) => Promise<readonly ListedCurrency[]> {
  const indexOf = tokenIndexes();

  return async (input) => {
    const question = readQuestion(services.chains, input);
    const isConfigured = ({ chainId, address }: Currency): boolean =>
      services.chains.currency(chainId, address) !== undefined;
    const search = (connected: ConnectedChain, chainPlace: number, fits: Fit): Found[] => {
      const index = indexOf(services.tokens.named(connected.chain.id), isConfigured);
      // Of one address there is one token at most: no need to look at them all.
      const only = question.address && index.byAddress.get(question.address);
      const candidates = question.address === undefined ? index.tokens : only === undefined ? [] : [only];
      return candidates.flatMap((token) => {
        const relevance = fits(token, connected);
        return relevance === undefined ? [] : [{ ...token, relevance, chainPlace }];
      });
    };
    const found = question.chains.flatMap((chain, place) => search(chain, place, question.fits));
    found.sort(inOrder);
    const unlisted = await findUnlisted(services, question, found);
    const all = [...found.map(({ currency }) => currency), ...unlisted];
    if (input.includeAllChains === true) all.push(...sameElsewhere(services, all));
    return all.slice(0, question.limit).map(toListedCurrency);
  };
}

type Fit = (token: IndexedToken, connected: ConnectedChain) => number | undefined;

/** A search whose words have found their meaning. */
export interface CurrencyQuestion {
  readonly chains: readonly ConnectedChain[];
  /** Tokens that are asked for by their address on these chains; undefined: not by address. */
  readonly address: Address | undefined;
  /** Tokens that are asked for one by one, as `chain id:address`; undefined: all. */
  readonly exact: ReadonlySet<string> | undefined;
  readonly fits: Fit;
  readonly limit: number;
  /** Tokens may be asked for on their chains. */
  readonly external: boolean;
}

function readQuestion(
  { all, get }: Pick<ChainDirectory, "all" | "get">,
  input: CurrenciesInput,
): CurrencyQuestion {
  const term = input.term?.trim().toLowerCase() ?? "";
  const given = input.address === undefined ? undefined : parseAddress(input.address);
  if (input.address !== undefined && given === undefined)
    throw new ServiceError("INVALID_ADDRESS", "address must be a 20-byte address", { field: "address" });
  const address = given ?? parseAddress(term);
  const exact = input.tokens && new Set(input.tokens.map(tokenKey));
  // A client's list may name chains that are not here.
  const chains =
    input.chainIds === undefined ? all : [...new Set(input.chainIds)].flatMap((id) => get(id) ?? []);
  return {
    chains,
    address,
    exact,
    limit: wholeNumber(input.limit) ?? 0,
    // These want what this instance or a list vouches for.
    external:
      input.useExternalSearch === true &&
      input.defaultList !== true &&
      input.verified !== true &&
      input.currencyId === undefined &&
      input.depositAddressOnly !== true,
    fits: (token, { chain }) => {
      const { currency, configured } = token;
      if (input.defaultList === true && !configured) return undefined;
      if (input.verified === true && !currency.verified) return undefined;
      if (input.currencyId !== undefined && currency.id !== input.currencyId.toLowerCase()) return undefined;
      if (exact?.has(`${currency.chainId}:${currency.address}`) === false) return undefined;
      if (given !== undefined && currency.address !== given) return undefined;
      if (
        input.depositAddressOnly === true &&
        (chain.contracts.depositAddressFactory === undefined || !currency.supportsBridging)
      )
        return undefined;
      return term === "" || term === currency.address ? 0 : termRelevance(token, term);
    },
  };
}

/** @throws ServiceError INVALID_ADDRESS */
function tokenKey(token: string): string {
  const [chainId = "", text = ""] = token.split(":", 2);
  const address = parseAddress(text);
  if (address === undefined)
    throw new ServiceError("INVALID_ADDRESS", `tokens holds ${token}, which names no 20-byte address`, {
      field: "tokens",
    });
  return `${Number(chainId)}:${address}`;
}

function inOrder(one: Found, other: Found): number {
  return (
    Number(other.configured) - Number(one.configured) ||
    one.relevance - other.relevance ||
    one.place - other.place ||
    one.chainPlace - other.chainPlace
  );
}

/** The assets of `found` on chains where they were not found. */
function sameElsewhere({ chains }: SearchServices, found: readonly Currency[]): Currency[] {
  const ids = new Set(found.map(({ id }) => id));
  const known = new Set(found);
  return chains.all
    .flatMap(({ chain }) => [chain.native, ...chain.tokens])
    .filter((currency) => ids.has(currency.id) && !known.has(currency));
}
