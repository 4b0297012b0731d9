import type { ChainProfile, Currency, PairClass, PricedUnit, PricingFacts } from "@causeway/domain";
import {
  BPS,
  divUp,
  NATIVE_CURRENCY,
  pairClassOf,
  pairSpread,
  ServiceError,
  settle,
  soon,
} from "@causeway/domain";
import type { Soon } from "@causeway/domain";
import type { ConnectedChain, RequestEnd } from "../../chains/chains.port.ts";
import type { PriceBook } from "./price-source.port.ts";
import type { PaymentGas, QuotePolicy } from "../quote-policy.port.ts";
import { doubtError, readingOf } from "./price-doubt.ts";
import type { PriceServices } from "./price-doubt.ts";

/** The current inputs of a route's prices. */
export interface RoutePricing {
  readonly pairClass: PairClass;
  readonly facts: PricingFacts;
  readonly originNative: PricedUnit;
  /**
   * The fill runs third-party code: the recipient's, a swap's, or calls. It may revert in a block although
   * its simulation succeeded.
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

/** The parts that matter for prices: either end may be a non-EVM chain. */
export interface PricedRoute extends Pick<Route, "originCurrency" | "destinationCurrency"> {
  readonly origin: { readonly chain: Pick<ChainProfile, "native" | "fees"> };
  readonly destination: RequestEnd;
}

/** How swaps, calls and the recipient change a route's prices. */
export interface SwapsOfRoute {
  /** Of the currencies that the user pays and the recipient gets; undefined: those of the route. */
  readonly pairClass?: PairClass | undefined;
  /** Gas units of the swap in the fill; undefined: no swap. */
  readonly swapGas?: bigint | undefined;
  /** Gas units of the calls that a fill makes with the output; undefined: it pays the recipient. */
  readonly callsGas?: bigint | undefined;
  /**
   * Cost of paying this recipient on a non-EVM chain, base units of the native token; undefined: the usual
   * cost.
   */
  readonly railCost?: bigint | undefined;
  /**
   * The fill also pays native tokens of the destination chain, which are sold at a price even if the route's
   * currencies are one asset.
   */
  readonly hasTopup?: boolean;
}

type Needs = {
  readonly prices: PriceBook;
  readonly quotePolicy: Pick<QuotePolicy, "gas" | "serviceBps" | "maxVolatilePriceAgeMs">;
};

/**
 * The live prices of a route, from what is deposited to what the solver pays with: used by the quote, and by
 * the fill to price the deposit again.
 * @param toContract the recipient is a contract: a native payment to it uses the more expensive way through
 * the router
 * @param originGasUsd what the output pays for the service sending the origin transaction, USD with 18
 * decimals
 * @throws ServiceError PRICE_FETCH_FAILED, RPC_HTTP_ERROR when a fresh value is missing
 */
export async function pricingOf(
  services: Needs,
  route: PricedRoute,
  toContract: boolean,
  originGasUsd?: bigint,
  swaps?: SwapsOfRoute,
): Promise<RoutePricing> {
  return await settle(pricingSoon(services, route, toContract, originGasUsd, swaps));
}

/** {@link pricingOf}, without waiting when every price is fresh. */
export function* pricingSoon(
  services: Needs,
  { origin, destination, originCurrency, destinationCurrency }: PricedRoute,
  toContract: boolean,
  originGasUsd = 0n,
  swaps: SwapsOfRoute = {},
): Soon<RoutePricing> {
  const { prices, quotePolicy } = services;
  const asked = {
    origin: prices.usd(originCurrency),
    destination: prices.usd(destinationCurrency),
    originNative: prices.usd(origin.chain.native),
    destinationNative: prices.usd(destination.chain.native),
  };
  // With fresh prices this does not even wait for a microtask.
  const usd = allKnown(asked) ? asked : yield* soon(awaitAll(asked));

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
    originNative: { decimals: origin.chain.native.decimals, priceUsd: usd.originNative },
    runsForeignCode: toContract || isRouted,
    facts: {
      origin: { decimals: originCurrency.decimals, priceUsd: usd.origin },
      destination: { decimals: destinationCurrency.decimals, priceUsd: usd.destination },
      destinationNative: { decimals: destination.chain.native.decimals, priceUsd: usd.destinationNative },
      fillGasCostWei: costWithMargin(destination, destinationCurrency, fillGas, swaps.railCost),
      flatUsd: fees.flatUsd + originGasUsd,
      serviceBps:
        quotePolicy.serviceBps[pairClass] + spreadBps + origin.chain.fees.depositBps + fees.withdrawalBps,
      appBps: 0,
      ...(topupBps !== undefined && { topupBps }),
    },
  };
}

/**
 * Spread for the age of two prices, bps; 0 if both currencies are one asset. Returns the error to throw when
 * the prices cannot carry a trade.
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
 * @throws ServiceError PRICE_FETCH_FAILED when the prices cannot carry a trade between two assets
 */
export function spreadOf(services: PriceServices, ...currencies: readonly Currency[]): number {
  const spread = spreadBetween(services, ...currencies);
  if (spread instanceof ServiceError) throw spread;
  return spread;
}

/**
 * What a payment costs the solver in addition to its amount, base units of the chain's native token, with a
 * margin for price moves.
 * @param known the cost of this very payment, if it was asked for
 */
export function costWithMargin(
  { chain, pulse }: RequestEnd,
  { address }: Currency,
  gas: bigint,
  known?: bigint,
): bigint {
  const cost = known ?? pulse.paymentCost(address, gas);
  return divUp(cost * (BPS + BigInt(chain.fees.gasMarginBps)), BPS);
}

/** Gas units of one payment in this currency. */
export function gasOf(gas: PaymentGas, currency: Currency, toContract: boolean): bigint {
  if (currency.address !== NATIVE_CURRENCY) return gas.erc20;
  return toContract ? gas.nativeToContract : gas.native;
}

type PriceName = "origin" | "destination" | "originNative" | "destinationNative";
type AskedPrices = Readonly<Record<PriceName, bigint | Promise<bigint>>>;
type KnownPrices = Readonly<Record<PriceName, bigint>>;

function allKnown(prices: AskedPrices): prices is KnownPrices {
  const { origin, destination, originNative, destinationNative } = prices;
  return (
    typeof origin === "bigint" &&
    typeof destination === "bigint" &&
    typeof originNative === "bigint" &&
    typeof destinationNative === "bigint"
  );
}

/** Concurrently: if two fail, neither rejection may stay unhandled. */
async function awaitAll(prices: AskedPrices): Promise<KnownPrices> {
  const wait = async (price: bigint | Promise<bigint>) => price;
  const [origin, destination, originNative, destinationNative] = await Promise.all([
    wait(prices.origin),
    wait(prices.destination),
    wait(prices.originNative),
    wait(prices.destinationNative),
  ]);
  return { origin, destination, originNative, destinationNative };
}
