import type { RouteTrade } from "@causeway/domain";
import { minExchange, ServiceError } from "@causeway/domain";
import type { QuoteQuestion } from "../quote-question.ts";
import type { DirectRoute } from "./chosen-route.ts";
import { freeTrade } from "./chosen-route.ts";
import type { FindExchange, Swapped } from "./find-swaps.ts";

/**
 * The user's own swap on one chain, in pools or by wrapping. The service has no part in it and charges
 * nothing. An exact output is bought exactly. For an expected output, the smallest input that yields it is
 * used. Undefined if no pool can make the swap.
 */
export function bestSwap(
  { origin, destination, originCurrency, destinationCurrency, tradeType, amount, swaps }: QuoteQuestion,
  find: FindExchange,
  refusals: ServiceError[],
): DirectRoute | undefined {
  if (origin !== destination || swaps.bySolver) return undefined;
  const exchange = find(originCurrency, destinationCurrency);
  if (exchange === undefined) return undefined;
  let swapped: Swapped | undefined;
  try {
    switch (tradeType) {
      case "EXACT_INPUT":
        swapped = exchange.exactIn(amount);
        break;
      case "EXACT_OUTPUT":
        swapped = exchange.exactOut(amount);
        break;
      case "EXPECTED_OUTPUT":
        swapped = minExchange(exchange, amount);
        break;
      default:
        return tradeType satisfies never;
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    refusals.push(error);
  }
  if (swapped === undefined || swapped.amountOut === 0n) return undefined;
  if (swapped.pool !== undefined && swaps.noOriginSwaps) return undefined;
  const trade: RouteTrade<Swapped> = {
    input: swapped.amountIn,
    origin: swapped,
    priced: freeTrade(swapped.amountIn),
    destination: undefined,
    expected: tradeType === "EXACT_INPUT" ? swapped.amountOut : amount,
  };
  return { kind: "swap", deposited: originCurrency, paidFrom: destinationCurrency, trade };
}
