import type { Currency } from "@causeway/domain";
import type { ListedCurrency } from "@causeway/wire";
import type { ChainDirectory, RequestEnd } from "../chains/chains.port.ts";
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
  readonly chains: Pick<ChainDirectory, "all" | "nonEvmChains" | "get" | "nonEvm" | "profile">;
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
  const asked: readonly RequestEnd[] =
    chainId === undefined ? [...chains.all, ...chains.nonEvmChains] : [findEnd(chains, chainId)];
  const named = new Map(
    asked.flatMap(({ chain }) => tokens.listTokens(chain.id).map((token) => [keyOf(token), token] as const)),
  );
  const sum = ({ requests, microUsd }: Traffic): bigint => (by === "volume" ? microUsd : BigInt(requests));
  const seen = traffic
    .latest()
    .flatMap((token) => {
      const currency = named.get(keyOf(token));
      return currency === undefined || !currency.verified
        ? []
        : [{ currency, day: sum(token.day), week: sum(token.week) }];
    })
    .sort(
      (one, other) =>
        sign(other.day - one.day) || sign(other.week - one.week) || compareKeys(one.currency, other.currency),
    );
  const featured = asked
    .flatMap(({ chain }, chainPlace) =>
      [chain.native, ...chain.tokens].map((currency, place) => ({ currency, place, chainPlace })),
    )
    .filter(({ currency }) => currency.verified)
    .sort((one, other) => one.place - other.place || one.chainPlace - other.chainPlace);
  const inOrder = new Map([...seen, ...featured].map(({ currency }) => [keyOf(currency), currency]));
  return [...inOrder.values()].slice(0, limit).map((one) => toListedCurrency(chains, one));
}

type TokenId = Pick<Currency, "chainId" | "address">;

const keyOf = ({ chainId, address }: TokenId): string => `${chainId}:${address}`;

const sign = (difference: bigint): number => (difference > 0n ? 1 : difference < 0n ? -1 : 0);

/** A fixed order for ties keeps the answer stable. */
function compareKeys(one: TokenId, other: TokenId): number {
  return one.chainId - other.chainId || (one.address < other.address ? -1 : 1);
}
