import type { Currency, PricedUnit } from "@causeway/domain";
import { amountToUsdDown, pow10, ServiceError } from "@causeway/domain";
import type { ChainDirectory } from "../../chains/chains.port.ts";
import type { PoolUsd } from "../../markets/liquidity/liquidity.port.ts";
import type { Market } from "../market.ts";
import type { QuoteQuestion } from "../quote-question.ts";
import type { ChosenRoute, RouteValues } from "./chosen-route.ts";
import type { RouteSwap } from "./find-swaps.ts";

export interface ValueServices {
  readonly chains: Pick<ChainDirectory, "currency">;
  readonly market: Pick<Market, "usd">;
  readonly poolUsd: PoolUsd;
}

/**
 * Prices of the currencies of a route. A currency without a price source is valued by pools, or by the
 * currency that it is swapped for; 0 means unknown. For display only: fees are charged in currencies with a
 * price.
 */
export function valuesOf(
  services: ValueServices,
  { origin, originCurrency, destinationCurrency }: QuoteQuestion,
  route: ChosenRoute,
): RouteValues {
  const { trade } = route;
  if (route.kind === "bridge") {
    const { facts, originNative } = route.pricing;
    return {
      originNative,
      deposited: facts.origin,
      input:
        trade.origin === undefined
          ? facts.origin
          : inputUnit(unitOf(services, originCurrency), trade.origin, facts.origin),
      output:
        trade.destination === undefined
          ? facts.destination
          : outputUnit(unitOf(services, destinationCurrency), trade.destination, facts.destination),
    };
  }
  const originNative = unitOf(services, origin.chain.native);
  const input = unitOf(services, route.deposited);
  if (trade.origin === undefined) return { originNative, deposited: input, input, output: input };
  const output = unitOf(services, route.paidFrom);
  const pricedInput = inputUnit(input, trade.origin, output);
  return {
    originNative,
    deposited: pricedInput,
    input: pricedInput,
    output: outputUnit(output, trade.origin, pricedInput),
  };
}

function unitOf({ chains, market, poolUsd }: ValueServices, currency: Currency): PricedUnit {
  const { chainId, address, decimals } = currency;
  // Price sources only know configured currencies.
  if (chains.currency(chainId, address) === undefined) return { decimals, priceUsd: poolUsd(currency) ?? 0n };
  try {
    return { decimals, priceUsd: market.usd(currency) };
  } catch (error) {
    if (error instanceof ServiceError && error.code === "PRICE_FETCH_FAILED")
      return { decimals, priceUsd: poolUsd(currency) ?? 0n };
    throw error;
  }
}

function inputUnit(input: PricedUnit, { amountIn, spotOut }: RouteSwap, output: PricedUnit): PricedUnit {
  return input.priceUsd > 0n ? input : unitPrice(input.decimals, amountIn, amountToUsdDown(spotOut, output));
}

function outputUnit(output: PricedUnit, { amountIn, spotOut }: RouteSwap, input: PricedUnit): PricedUnit {
  return output.priceUsd > 0n
    ? output
    : unitPrice(output.decimals, spotOut, amountToUsdDown(amountIn, input));
}

/** The price of one unit when `amount` is worth `usd` (18 decimals). */
function unitPrice(decimals: number, amount: bigint, usd: bigint): PricedUnit {
  return { decimals, priceUsd: amount === 0n ? 0n : (usd * pow10(decimals)) / amount };
}
