import type { Currency } from "@causeway/domain";
import type { ListedCurrency } from "@causeway/wire";
import type { ChainDirectory, AnyConnectedChain } from "../chains/chains.port.ts";
import type { RecentTraffic, Traffic } from "../markets/tokens/token-traffic.port.ts";
import type { TokenCatalog } from "../markets/tokens/token-catalog.port.ts";
import { findEnd } from "./find-chain.ts";
import { toListedCurrency } from "./listed-currency.ts";

export interface TrendingQuestion {
  /** Undefined: all chains. */
  readonly chainId: number | undefined;
  readonly by: "requests" | "volume";
  readonly limit: number;
}

export interface TrendingServices {
  readonly chains: Pick<ChainDirectory, "evmChains" | "nonEvmChains" | "get" | "nonEvm" | "profile">;
  readonly tokens: TokenCatalog;
  readonly traffic: RecentTraffic;
}

/**
 * The currencies with the most requests of the last day, then of the last week, then featured ones. Verified
 * tokens only, so that wash trading cannot push a token into Trending.
 * @throws ServiceError UNSUPPORTED_CHAIN
 */
export function trendingCurrencies(
  { chains, tokens, traffic }: TrendingServices,
  { chainId, by, limit }: TrendingQuestion,
): readonly ListedCurrency[] {
  const ranked: readonly AnyConnectedChain[] =
    chainId === undefined ? [...chains.evmChains, ...chains.nonEvmChains] : [findEnd(chains, chainId)];
  const currencies = new Map(
    ranked.flatMap(({ chain }) => tokens.listTokens(chain.id).map((token) => [keyOf(token), token] as const)),
  );
  const sum = ({ requests, microUsd }: Traffic): bigint => (by === "volume" ? microUsd : BigInt(requests));
  const seen = traffic
    .latest()
    .flatMap((token) => {
      const currency = currencies.get(keyOf(token));
      return currency === undefined || !currency.verified
        ? []
        : [{ currency, day: sum(token.day), week: sum(token.week) }];
    })
    .sort((a, b) => sign(b.day - a.day) || sign(b.week - a.week) || compareKeys(a.currency, b.currency));
  const featured = ranked
    .flatMap(({ chain }, chainPlace) =>
      [chain.native, ...chain.tokens].map((currency, place) => ({ currency, place, chainPlace })),
    )
    .filter(({ currency }) => currency.verified)
    .sort((a, b) => a.place - b.place || a.chainPlace - b.chainPlace);
  const inOrder = new Map([...seen, ...featured].map(({ currency }) => [keyOf(currency), currency]));
  return [...inOrder.values()].slice(0, limit).map((currency) => toListedCurrency(chains, currency));
}

type TokenId = Pick<Currency, "chainId" | "address">;

const keyOf = ({ chainId, address }: TokenId): string => `${chainId}:${address}`;

const sign = (difference: bigint): number => (difference > 0n ? 1 : difference < 0n ? -1 : 0);

/** A fixed order for ties keeps the answer stable. */
function compareKeys(a: TokenId, b: TokenId): number {
  return a.chainId - b.chainId || (a.address < b.address ? -1 : 1);
}
