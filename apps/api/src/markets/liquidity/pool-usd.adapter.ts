import type { Address, ConstantProductPair, ConcentratedPool, Currency } from "@causeway/domain";
import { depthNearPrice, NATIVE_CURRENCY, pow10 } from "@causeway/domain";
import type { PoolUsd } from "./liquidity.port.ts";
import type { PriceBook } from "../prices/price-source.port.ts";
import type { PooledChain } from "./pool-liquidity.adapter.ts";
import { tokenPair, type TokenPair } from "./token-pair.adapter.ts";

/** A chain and its currencies with a price source. */
export interface PricedChain extends PooledChain {
  readonly native: Currency;
  readonly tokens: readonly Currency[];
}

/** Pools with less liquidity than this on the side of the priced token are ignored, USD with 18 decimals. */
const MIN_DEPTH_USD = 1_000n * 10n ** 18n;
/** Maximum number of pools between a token and a priced token. */
const MAX_POOLS = 2;

/** USD per base unit as a fraction, and the depth of the pools that it is derived from. */
interface UnitUsd {
  /** 18 decimals. */
  readonly numerator: bigint;
  readonly denominator: bigint;
  readonly depthUsd: bigint;
}

/** Values tokens by the cached pools, through the chain's connectors to a priced token. */
export function createPoolUsd(chains: readonly PricedChain[], prices: PriceBook): PoolUsd {
  const byId = new Map(chains.map((chain) => [chain.chainId, chain]));

  function sourcePrice(chain: PricedChain, token: Address): UnitUsd | undefined {
    const currency =
      token === chain.liquidity.wrappedNative
        ? chain.native
        : chain.tokens.find(({ address }) => address === token);
    if (currency === undefined) return undefined;
    const usd = usdNow(prices, currency);
    if (usd === undefined) return undefined;
    return { numerator: usd, denominator: pow10(currency.decimals), depthUsd: 0n };
  }

  function unitUsd(chain: PricedChain, token: Address, poolsLeft: number): UnitUsd | undefined {
    let best: UnitUsd | undefined;
    for (const connector of chain.liquidity.connectors) {
      if (connector === token) continue;
      const connectorPrice =
        sourcePrice(chain, connector) ??
        (poolsLeft > 1 ? unitUsd(chain, connector, poolsLeft - 1) : undefined);
      if (connectorPrice === undefined) continue;
      const pair = tokenPair(token, connector);
      for (const { down } of chain.pools.cached()?.live.get(pair.key) ?? []) {
        const price = priceThroughPool(token === pair.token0, down.pool, connectorPrice);
        if (price !== undefined && (best === undefined || price.depthUsd > best.depthUsd)) best = price;
      }
    }
    return best;
  }

  const pairs = new WeakMap<object, readonly TokenPair[]>();

  /** Schedules the token's pools to be read with the next blocks. The current call does not wait for them. */
  function watchPools(currency: object, chain: PricedChain, token: Address): void {
    let tokenPairs = pairs.get(currency);
    if (tokenPairs === undefined) {
      tokenPairs = pairsAbout(token, chain.liquidity.connectors);
      pairs.set(currency, tokenPairs);
    }
    const answer = chain.pools.read(tokenPairs);
    // Ignored: the next block tries again, and callers that need the pools report failures.
    if (answer instanceof Promise) answer.catch(() => undefined);
  }

  return (currency, minDepthUsd = 0n) => {
    const { chainId, address, decimals } = currency;
    const chain = byId.get(chainId);
    if (chain === undefined) return undefined;
    const token = address === NATIVE_CURRENCY ? chain.liquidity.wrappedNative : address;
    if (token === undefined) return undefined;
    watchPools(currency, chain, token);
    const price = unitUsd(chain, token, MAX_POOLS);
    if (price === undefined || price.depthUsd < minDepthUsd) return undefined;
    return (price.numerator * pow10(decimals)) / price.denominator;
  };
}

/** Pairs of a token with each connector, and of the connectors with each other. */
function pairsAbout(token: Address, connectors: readonly Address[]): TokenPair[] {
  return connectors.flatMap((connector, index) => [
    ...(connector === token ? [] : [tokenPair(token, connector)]),
    ...connectors.slice(index + 1).map((other) => tokenPair(connector, other)),
  ]);
}

/** The cached price; undefined if it is pending or failed, because callers cannot wait. */
function usdNow(prices: PriceBook, currency: Currency): bigint | undefined {
  try {
    const usd = prices.usd(currency);
    if (typeof usd === "bigint") return usd;
    usd.catch(() => undefined);
    return undefined;
  } catch {
    return undefined;
  }
}

function priceThroughPool(
  isToken0: boolean,
  pool: ConcentratedPool | ConstantProductPair,
  connectorPrice: UnitUsd,
): UnitUsd | undefined {
  const { reserve0, reserve1 } = virtualReserves(pool);
  const [ownReserve, otherReserve] = isToken0 ? [reserve0, reserve1] : [reserve1, reserve0];
  if (ownReserve === 0n || otherReserve === 0n) return undefined;
  const depthOfPool =
    (depthOf(pool, isToken0 ? "token1" : "token0") * connectorPrice.numerator) / connectorPrice.denominator;
  const depthUsd =
    connectorPrice.depthUsd > 0n && connectorPrice.depthUsd < depthOfPool
      ? connectorPrice.depthUsd
      : depthOfPool;
  if (depthUsd < MIN_DEPTH_USD) return undefined;
  return {
    numerator: connectorPrice.numerator * otherReserve,
    denominator: connectorPrice.denominator * ownReserve,
    depthUsd,
  };
}

const depths = new WeakMap<ConcentratedPool, { token0?: bigint; token1?: bigint }>();

/** The liquidity near the price, in units of the token. Cached, because pools of one block never change. */
function depthOf(pool: ConcentratedPool | ConstantProductPair, token: "token0" | "token1"): bigint {
  if ("reserve0" in pool) return token === "token0" ? pool.reserve0 : pool.reserve1;
  const measured = depths.get(pool) ?? {};
  depths.set(pool, measured);
  return (measured[token] ??= depthNearPrice(pool, token));
}

/** The reserves that a constant-product pair with the same price and liquidity would have. */
function virtualReserves(pool: ConcentratedPool | ConstantProductPair): {
  reserve0: bigint;
  reserve1: bigint;
} {
  if ("reserve0" in pool) return pool;
  const { liquidity, sqrtPrice } = pool;
  return { reserve0: (liquidity << 96n) / sqrtPrice, reserve1: (liquidity * sqrtPrice) >> 96n };
}
