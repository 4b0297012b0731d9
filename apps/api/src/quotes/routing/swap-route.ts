import type { RouteTrade } from "@causeway/domain";
import { minInputSwap, ServiceError } from "@causeway/domain";
import type { QuoteQuestion } from "../quote-question.ts";
import type { DirectRoute } from "./chosen-route.ts";
import { freeTrade } from "./chosen-route.ts";
import type { FindQuoter, RouteSwap } from "./find-swaps.ts";

/**
 * The user's own swap on one chain, in pools or by wrapping. The service has no part in it and charges
 * nothing. An exact output is bought exactly. For an expected output, the smallest input that yields it is
 * used. Undefined if no pool can make the swap.
 */
export function bestSwap(
  { origin, destination, originCurrency, destinationCurrency, tradeType, amount, swaps }: QuoteQuestion,
  findQuoter: FindQuoter,
  refusals: ServiceError[],
): DirectRoute | undefined {
  if (origin !== destination || swaps.isFilledBySolver) return undefined;
  const quoter = findQuoter(originCurrency, destinationCurrency);
  if (quoter === undefined) return undefined;
  let swap: RouteSwap | undefined;
  try {
    switch (tradeType) {
      case "EXACT_INPUT":
        swap = quoter.exactIn(amount);
        break;
      case "EXACT_OUTPUT":
        swap = quoter.exactOut(amount);
        break;
      case "EXPECTED_OUTPUT":
        swap = minInputSwap(quoter, amount);
        break;
      default:
        return tradeType satisfies never;
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    refusals.push(error);
  }
  if (swap === undefined || swap.amountOut === 0n) return undefined;
  if (swap.pool !== undefined && swaps.noOriginSwaps) return undefined;
  const trade: RouteTrade<RouteSwap> = {
    input: swap.amountIn,
    origin: swap,
    priced: freeTrade(swap.amountIn),
    destination: undefined,
    expected: tradeType === "EXACT_INPUT" ? swap.amountOut : amount,
  };
  return { kind: "swap", deposited: originCurrency, paidFrom: destinationCurrency, trade };
}
