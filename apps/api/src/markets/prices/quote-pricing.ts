import type { ChainProfile, Currency, PairClass, PricedUnit, PricingFacts } from "@causeway/domain";
import {
  BPS,
  divUp,
  gasCostWei,
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
import { isRail } from "../../http/request-end.ts";

/** What a route's prices are made of, at this moment. */
export interface RoutePricing {
  readonly pairClass: PairClass;
  readonly facts: PricingFacts;
  readonly originNative: PricedUnit;
  /**
   * The fill runs code of others: the recipient's, an exchange's, or calls. It may revert in its block
   * although it did not when it was tried.
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

/** The same, as far as its prices go: either chain may be reached by a rail. */
export interface PricedRoute extends Pick<Route, "originCurrency" | "destinationCurrency"> {
  readonly origin: { readonly chain: Pick<ChainProfile, "native" | "fees"> };
  readonly destination: RequestEnd;
}

/** What swaps before the deposit and in the fill, and who is paid, change about a route's prices. */
export interface SwapsOfRoute {
  /** Of the currencies that the user pays and the recipient gets; undefined: they are those of the route. */
  readonly pairClass?: PairClass | undefined;
  /** Gas units of the exchange in the fill; undefined: there is none. */
  readonly exchangeGas?: bigint | undefined;
  /** Gas units of the calls that a fill makes with the output; undefined: it pays the recipient. */
  readonly callsGas?: bigint | undefined;
  /**
   * What paying this very recipient costs on a rail, smallest units of the native coin; undefined: as for
   * anybody.
   */
  readonly railCost?: bigint | undefined;
  /**
   * The fill also pays native token of the destination chain: it is sold at a price, whatever the route's own
   * pair is.
   */
  readonly hasTopup?: boolean;
}

type Needs = {
  readonly prices: PriceBook;
  readonly quotePolicy: Pick<QuotePolicy, "gas" | "serviceBps" | "maxVolatilePriceAgeMs">;
};

/**
 * The live facts of a route, from what is deposited to what the solver pays with: used by the quote, and by
 * the fill to price the deposit again.
 * @param toContract the recipient is a contract: a native payment to it takes the dearer way through the
 * router.
 * @param originGasUsd what the output pays for the service sending the origin transaction, USD with 18
 * decimals.
 * @throws ServiceError PRICE_FETCH_FAILED, RPC_HTTP_ERROR when something fresh is missing.
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
  // With fresh prices nothing is waited for, not even a turn of the queue.
  const usd = allKnown(asked) ? asked : yield* soon(allAnswered(asked));

  const pairClass = swaps.pairClass ?? pairClassOf(originCurrency, destinationCurrency);
  const spreadBps = spreadOf(services, originCurrency, destinationCurrency);
  const { native } = destination.chain;
  const topupBps =
    swaps.hasTopup === true
      ? quotePolicy.serviceBps[pairClassOf(originCurrency, native)] +
        spreadOf(services, originCurrency, native)
      : undefined;
  const { fees } = destination.chain;
  const isRouted = swaps.exchangeGas !== undefined || swaps.callsGas !== undefined;
  const fillGas = !isRouted
    ? gasOf(quotePolicy.gas.fill, destinationCurrency, toContract)
    : quotePolicy.gas.exchangedFill + (swaps.exchangeGas ?? 0n) + (swaps.callsGas ?? 0n);
  return {
    pairClass,
    originNative: { decimals: origin.chain.native.decimals, priceUsd: usd.originNative },
    runsForeignCode: toContract || isRouted,
    facts: {
      origin: { decimals: originCurrency.decimals, priceUsd: usd.origin },
      destination: { decimals: destinationCurrency.decimals, priceUsd: usd.destination },
      destinationNative: { decimals: destination.chain.native.decimals, priceUsd: usd.destinationNative },
      fillGasCostWei: fillCost(destination, destinationCurrency, fillGas, swaps.railCost),
      flatUsd: fees.flatUsd + originGasUsd,
      serviceBps:
        quotePolicy.serviceBps[pairClass] + spreadBps + origin.chain.fees.depositBps + fees.withdrawalBps,
      appBps: 0,
      ...(topupBps !== undefined && { topupBps }),
    },
  };
}

/**
 * Spread for the age of the prices of two currencies, bps; 0 where both are one asset. The error to throw
 * when they cannot carry a trade.
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
 *
 * @throws ServiceError PRICE_FETCH_FAILED when the prices cannot carry a trade between two assets
 */
export function spreadOf(services: PriceServices, ...currencies: readonly Currency[]): number {
  const spread = spreadBetween(services, ...currencies);
  if (spread instanceof ServiceError) throw spread;
  return spread;
}

/**
 * What the fill costs the solver beside what is paid, smallest units of the destination's native coin, with
 * the margin that its price may move by.
 */
function fillCost(
  destination: RequestEnd,
  { address }: Currency,
  gas: bigint,
  railCost: bigint | undefined,
): bigint {
  if (isRail(destination)) {
    const { chain, pulse } = destination;
    return divUp((railCost ?? pulse.paymentCost(address)) * (BPS + BigInt(chain.fees.gasMarginBps)), BPS);
  }
  const { fees } = destination.chain;
  return gasCostWei(gas, destination.pulse.gasPrices(), fees.minPriorityFeeWei, fees.gasMarginBps);
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

/** Together, not one after another: of two that fail, none may stay unheard. */
async function allAnswered(prices: AskedPrices): Promise<KnownPrices> {
  const wait = async (price: bigint | Promise<bigint>) => price;
  const [origin, destination, originNative, destinationNative] = await Promise.all([
    wait(prices.origin),
    wait(prices.destination),
    wait(prices.originNative),
    wait(prices.destinationNative),
  ]);
  return { origin, destination, originNative, destinationNative };
}
