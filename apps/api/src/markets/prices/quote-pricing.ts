import type { ChainProfile, Currency, PairClass, PricedUnit, PricingFacts } from "@causeway/domain";
import { NATIVE_CURRENCY, pairClassOf, pairSpread, raisedByBps, ServiceError } from "@causeway/domain";
import type { ConnectedChain, AnyConnectedChain } from "../../chains/chains.port.ts";
import type { PriceBook } from "./price-source.port.ts";
import type { PaymentGas, QuotePolicy } from "../quote-policy.port.ts";
import { doubtError, readingOf } from "./disputed-price.ts";
import type { PriceServices } from "./disputed-price.ts";

/** The current inputs of a route's prices. */
export interface RoutePricing {
  readonly pairClass: PairClass;
  readonly facts: PricingFacts;
  readonly originNative: PricedUnit;
  /**
   * Whether the fill runs third-party code: of the recipient, a swap, or calls. Such a fill may revert in a
   * block after a successful simulation.
   */
  readonly runsForeignCode: boolean;
}

/** Two chains and the currencies on them. */
export interface Route {
  readonly origin: ConnectedChain;
  readonly destination: ConnectedChain;
  readonly originCurrency: Currency;
  readonly destinationCurrency: Currency;
}

/** The parts of a route that determine its prices. Either end may be a non-EVM chain. */
export interface PricedRoute extends Pick<Route, "originCurrency" | "destinationCurrency"> {
  readonly origin: { readonly chain: Pick<ChainProfile, "native" | "fees"> };
  readonly destination: AnyConnectedChain;
}

/** How swaps, calls and the recipient change a route's prices. */
export interface SwapsOfRoute {
  /**
   * Class of the pair that the user pays and the recipient gets. Undefined: class of the route's own
   * currencies.
   */
  readonly pairClass?: PairClass | undefined;
  /** Gas units of the swap in the fill; undefined: no swap. */
  readonly swapGas?: bigint | undefined;
  /** Gas units of the calls that a fill makes with the output. Undefined: the fill pays the recipient. */
  readonly callsGas?: bigint | undefined;
  /**
   * Cost of paying this recipient on a non-EVM chain, base units of the native token; undefined: the usual
   * cost.
   */
  readonly nonEvmCost?: bigint | undefined;
  /**
   * Whether the fill also pays native tokens of the destination chain. They are sold at a price even if the
   * route's currencies are one asset.
   */
  readonly hasTopup?: boolean;
}

type Needs = {
  readonly prices: PriceBook;
  readonly quotePolicy: Pick<QuotePolicy, "gas" | "serviceBps" | "maxVolatilePriceAgeMs">;
};

/** Currencies whose prices a route needs. */
export function currenciesToPrice({ origin, destination, originCurrency, destinationCurrency }: PricedRoute) {
  return [originCurrency, destinationCurrency, origin.chain.native, destination.chain.native] as const;
}

/**
 * The current prices of a route, as in {@link priceRoute}. For fills, which price the deposit again.
 * @throws ServiceError PRICE_FETCH_FAILED, RPC_HTTP_ERROR when a fresh value is missing
 */
export async function pricingOf(
  services: Needs & { readonly prices: PriceBook },
  route: PricedRoute,
  toContract: boolean,
  originGasUsd?: bigint,
  swaps?: SwapsOfRoute,
): Promise<RoutePricing> {
  const currencies = currenciesToPrice(route);
  // Concurrently: if two fail, neither rejection may stay unhandled.
  const prices = await Promise.all(currencies.map(async (currency) => await services.prices.usd(currency)));
  const usdOf = new Map(currencies.map((currency, index) => [currency, prices[index] ?? 0n]));
  const usd = (currency: Currency): bigint => usdOf.get(currency) ?? 0n;
  return priceRoute(services, usd, route, toContract, originGasUsd, swaps);
}

/**
 * The prices of a route, from the deposited currency to the currency that the solver pays with.
 * @param usd returns USD per whole unit, 18 decimals, for the currencies of {@link currenciesToPrice}
 * @param toContract whether the recipient is a contract: a native payment then goes through the router, which
 * costs more
 * @param originGasUsd the cost, taken from the output, of sending the origin transaction, USD with 18
 * decimals
 * @throws ServiceError PRICE_FETCH_FAILED, RPC_HTTP_ERROR when a fresh value is missing
 */
export function priceRoute(
  services: Needs,
  usd: (currency: Currency) => bigint,
  { origin, destination, originCurrency, destinationCurrency }: PricedRoute,
  toContract: boolean,
  originGasUsd = 0n,
  swaps: SwapsOfRoute = {},
): RoutePricing {
  const { quotePolicy } = services;
  const pairClass = swaps.pairClass ?? pairClassOf(originCurrency, destinationCurrency);
  const spreadBps = spreadOf(services, originCurrency, destinationCurrency);
  const { native } = destination.chain;
  const topupBps =
    swaps.hasTopup === true
      ? quotePolicy.serviceBps[pairClassOf(originCurrency, native)] +
        spreadOf(services, originCurrency, native)
      : undefined;
  const { fees } = destination.chain;
  const isRouted = swaps.swapGas !== undefined || swaps.callsGas !== undefined;
  const fillGas = !isRouted
    ? gasOf(quotePolicy.gas.fill, destinationCurrency, toContract)
    : quotePolicy.gas.swapFill + (swaps.swapGas ?? 0n) + (swaps.callsGas ?? 0n);
  return {
    pairClass,
    originNative: { decimals: origin.chain.native.decimals, priceUsd: usd(origin.chain.native) },
    runsForeignCode: toContract || isRouted,
    facts: {
      origin: { decimals: originCurrency.decimals, priceUsd: usd(originCurrency) },
      destination: { decimals: destinationCurrency.decimals, priceUsd: usd(destinationCurrency) },
      destinationNative: { decimals: destination.chain.native.decimals, priceUsd: usd(native) },
      fillGasCostWei: costWithMargin(destination, destinationCurrency, fillGas, swaps.nonEvmCost),
      flatUsd: fees.flatUsd + originGasUsd,
      serviceBps:
        quotePolicy.serviceBps[pairClass] + spreadBps + origin.chain.fees.depositBps + fees.withdrawalBps,
      appBps: 0,
      ...(topupBps !== undefined && { topupBps }),
    },
  };
}

/**
 * Spread for the age of two prices, bps; 0 if both currencies are one asset. Returns the error to throw if
 * the prices must not be used for a trade.
 */
export function spreadBetween(
  { prices, quotePolicy: { maxVolatilePriceAgeMs } }: PriceServices,
  ...currencies: readonly Currency[]
): number | ServiceError {
  const sides = currencies.map((currency) => ({ currency, reading: readingOf(prices, currency) }));
  const spread = pairSpread(sides, maxVolatilePriceAgeMs);
  return spread.kind === "spread" ? spread.bps : doubtError(spread, maxVolatilePriceAgeMs);
}

/**
 * {@link spreadBetween}.
 * @throws ServiceError PRICE_FETCH_FAILED when the prices must not be used for a trade between the two assets
 */
export function spreadOf(services: PriceServices, ...currencies: readonly Currency[]): number {
  const spread = spreadBetween(services, ...currencies);
  if (spread instanceof ServiceError) throw spread;
  return spread;
}

/**
 * What a payment costs the solver in addition to its amount, base units of the chain's native token, with a
 * margin for price moves.
 * @param recipientCost the cost of paying this recipient; undefined: the usual cost
 */
export function costWithMargin(
  { chain, pulse }: AnyConnectedChain,
  { address }: Currency,
  gas: bigint,
  recipientCost?: bigint,
): bigint {
  const cost = recipientCost ?? pulse.paymentCost(address, gas);
  return raisedByBps(cost, chain.fees.gasMarginBps);
}

/** Gas units of one payment in this currency. */
export function gasOf(gas: PaymentGas, currency: Currency, toContract: boolean): bigint {
  if (currency.address !== NATIVE_CURRENCY) return gas.erc20;
  return toContract ? gas.nativeToContract : gas.native;
}
