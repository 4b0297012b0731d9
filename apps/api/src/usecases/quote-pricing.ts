import type { Currency, PairClass, PricedUnit, PricingFacts } from "@causeway/domain";
import { gasCostWei, NATIVE_CURRENCY, pairClassOf } from "@causeway/domain";
import type { ConnectedChain } from "../ports/chains.ts";
import type { PriceBook } from "../ports/price-source.ts";
import type { PaymentGas, QuotePolicy } from "../ports/quote.ts";

/** What a route's prices are made of, at this moment. */
export interface RoutePricing {
  readonly pairClass: PairClass;
  readonly facts: PricingFacts;
  readonly originNative: PricedUnit;
}

/** Two chains and the currencies on them. */
export interface Route {
  readonly origin: ConnectedChain;
  readonly destination: ConnectedChain;
  readonly originCurrency: Currency;
  readonly destinationCurrency: Currency;
}

/**
 * The live facts of a route: used by the quote, and by the fill to price the deposit again.
 * @throws ServiceError PRICE_FETCH_FAILED, RPC_HTTP_ERROR when something fresh is missing.
 */
export async function pricingOf(
  services: { readonly prices: PriceBook; readonly quotePolicy: Pick<QuotePolicy, "gas" | "serviceBps"> },
  { origin, destination, originCurrency, destinationCurrency }: Route,
): Promise<RoutePricing> {
  const { prices, quotePolicy } = services;
  const known = [
    prices.usd(originCurrency),
    prices.usd(destinationCurrency),
    prices.usd(origin.chain.native),
    prices.usd(destination.chain.native),
  ] as const;
  // With fresh prices nothing is waited for, not even a turn of the queue.
  const [originUsd, destinationUsd, originNativeUsd, destinationNativeUsd] = known.every(isKnown)
    ? (known as readonly [bigint, bigint, bigint, bigint])
    : await Promise.all(known);

  const pairClass = pairClassOf(originCurrency, destinationCurrency);
  const { fees } = destination.chain;
  const fillGas = gasOf(quotePolicy.gas.fill, destinationCurrency);
  return {
    pairClass,
    originNative: { decimals: origin.chain.native.decimals, priceUsd: originNativeUsd },
    facts: {
      origin: { decimals: originCurrency.decimals, priceUsd: originUsd },
      destination: { decimals: destinationCurrency.decimals, priceUsd: destinationUsd },
      destinationNative: { decimals: destination.chain.native.decimals, priceUsd: destinationNativeUsd },
      fillGasCostWei: gasCostWei(
        fillGas,
        destination.pulse.gasPrices(),
        fees.minPriorityFeeWei,
        fees.gasMarginBps,
      ),
      flatUsd: fees.flatUsd,
      serviceBps: quotePolicy.serviceBps[pairClass] + origin.chain.fees.depositBps + fees.withdrawalBps,
      appBps: 0,
    },
  };
}

/** Gas units of one payment in this currency. */
export function gasOf(gas: PaymentGas, currency: Currency): bigint {
  return currency.address === NATIVE_CURRENCY ? gas.native : gas.erc20;
}

function isKnown(price: bigint | Promise<bigint>): price is bigint {
  return typeof price === "bigint";
}
