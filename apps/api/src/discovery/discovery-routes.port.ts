import type {
  ChainHealthAnswer,
  ChainLiquidityAnswer,
  CurrenciesInput,
  ListedCurrency,
  RouteConfigAnswer,
} from "@causeway/wire";

/** What clients ask to find out what there is: use cases with their services given. */
export interface DiscoveryRoutes {
  /** @throws ServiceError INVALID_ADDRESS, RPC_HTTP_ERROR */
  currencies(input: CurrenciesInput): Promise<readonly ListedCurrency[]>;
  /**
   * USD of a whole unit, 18 decimals.
   *
   * @throws ServiceError UNSUPPORTED_CHAIN, INVALID_ADDRESS, UNSUPPORTED_CURRENCY, PRICE_FETCH_FAILED,
   * RPC_HTTP_ERROR
   */
  tokenPrice(chainId: number, address: string): Promise<bigint>;
  /** Likeliest first. @throws ServiceError UNSUPPORTED_CHAIN */
  trending(question: TrendingQuestion): readonly ListedCurrency[];
  /** @throws ServiceError UNSUPPORTED_CHAIN, RPC_HTTP_ERROR, PRICE_FETCH_FAILED */
  liquidity(chainId: number): Promise<ChainLiquidityAnswer>;
  /** @throws ServiceError UNSUPPORTED_CHAIN */
  health(chainId: number): Promise<ChainHealthAnswer>;
  /** @throws ServiceError UNSUPPORTED_CHAIN, INVALID_ADDRESS, UNSUPPORTED_CURRENCY, RPC_HTTP_ERROR */
  routeConfig(question: RouteConfigQuestion): Promise<RouteConfigAnswer>;
}

export interface TrendingQuestion {
  /** Undefined: of all chains. */
  readonly chainId: number | undefined;
  readonly by: "requests" | "volume";
  readonly limit: number;
}

export interface RouteConfigQuestion {
  readonly originChainId: number;
  readonly destinationChainId: number;
  readonly user: string | undefined;
  /** Id, symbol or address; undefined: the native currency. */
  readonly currency: string | undefined;
}
