import type { PricedTrade } from "./price-trade.ts";
import { priceInput } from "./output-for-input.ts";
import type { PricingFacts } from "./output-for-input.ts";
import { inputForOutput } from "./input-for-output.ts";
import { minAmount } from "./search-min-amount.ts";

/** A swap of one currency for another, in base units. */
export interface SwapAmounts {
  readonly amountIn: bigint;
  readonly amountOut: bigint;
}

/** A market for one currency pair. Both functions are monotonic; undefined: not possible at this size. */
export interface SwapQuoter<T extends SwapAmounts = SwapAmounts> {
  /** Whether `exactOut` already returns the smallest input, so that no search is needed. */
  readonly isInverse?: boolean | undefined;
  exactIn(amountIn: bigint): T | undefined;
  exactOut(amountOut: bigint): T | undefined;
}

/**
 * The parts of a route between the user's currency and the recipient's: a swap before the deposit, the
 * service's own pricing, a swap in the fill.
 */
export interface RouteParts<T extends SwapAmounts> {
  /** Undefined: the user pays in the deposited currency. */
  readonly origin: SwapQuoter<T> | undefined;
  /** Undefined: the solver pays in the recipient's currency. */
  readonly destination: SwapQuoter<T> | undefined;
  readonly facts: PricingFacts;
}

/** A priced route. */
export interface RouteTrade<T extends SwapAmounts> {
  /** What the user pays. */
  readonly input: bigint;
  readonly origin: T | undefined;
  /**
   * The service's own pricing. `expected` is the amount of the fill or, if the fill swaps, the input of the
   * swap.
   */
  readonly priced: PricedTrade;
  readonly destination: T | undefined;
  /** The recipient's expected output. */
  readonly expected: bigint;
}

/**
 * What an input buys through all parts: `destination(priceInput(origin(input)))`. Never falls when the input
 * grows. Undefined: nothing, or not possible at this size.
 */
export function routeOutput<T extends SwapAmounts>(
  input: bigint,
  { origin, destination, facts }: RouteParts<T>,
): RouteTrade<T> | undefined {
  const originSwap = origin?.exactIn(input);
  if (origin !== undefined && originSwap === undefined) return undefined;
  const priced = priceInput(originSwap?.amountOut ?? input, facts);
  if (priced.output === 0n) return undefined;
  const paid = { ...priced, expected: priced.output };
  if (destination === undefined)
    return { input, origin: originSwap, priced: paid, destination: undefined, expected: priced.output };
  const fillSwap = destination.exactIn(priced.output);
  if (fillSwap === undefined || fillSwap.amountOut === 0n) return undefined;
  return { input, origin: originSwap, priced: paid, destination: fillSwap, expected: fillSwap.amountOut };
}

/**
 * The smallest input whose {@link routeOutput} is at least `output` (positive), exact to the unit: since all
 * parts are monotonic, it is the chain of the parts' smallest inputs, from last to first. Undefined: the
 * swaps cannot fill it.
 */
export function routeInput<T extends SwapAmounts>(
  output: bigint,
  { origin, destination, facts }: RouteParts<T>,
): RouteTrade<T> | undefined {
  const fillSwap = destination && minInputSwap(destination, output);
  if (destination !== undefined && fillSwap === undefined) return undefined;
  const paid = fillSwap?.amountIn ?? output;
  const deposit = inputForOutput(paid, facts);
  const originSwap = origin && minInputSwap(origin, deposit);
  if (origin !== undefined && originSwap === undefined) return undefined;
  const priced = priceInput(originSwap?.amountOut ?? deposit, facts);
  return {
    input: originSwap?.amountIn ?? deposit,
    origin: originSwap,
    // The smallest input may yield a few units more than requested; the request stays the expectation.
    priced: { ...priced, expected: paid },
    destination: fillSwap,
    expected: output,
  };
}

/**
 * The swap with the smallest input that yields at least `amountOut`. The pool's own inverse may be off by a
 * unit, so it is only the start of a search.
 */
export function minInputSwap<T extends SwapAmounts>(quoter: SwapQuoter<T>, amountOut: bigint): T | undefined {
  const guess = quoter.exactOut(amountOut);
  if (guess === undefined || quoter.isInverse === true) return guess;
  let best: T | undefined;
  const smallest = minAmount(guess.amountIn, (amountIn) => {
    const answer = quoter.exactIn(amountIn);
    const reached = answer !== undefined && answer.amountOut >= amountOut;
    if (reached && (best === undefined || amountIn < best.amountIn)) best = answer;
    return reached;
  });
  return smallest === undefined ? undefined : best;
}
