import type { PricedTrade } from "./price-trade.ts";
import { forward } from "./forward.ts";
import type { PricingFacts } from "./forward.ts";
import { inputFor } from "./invert.ts";
import { minAmount } from "./least-amount.ts";
import { soon } from "./soon.ts";
import type { MaybePromise, Soon } from "./soon.ts";

/** One exchange of one currency for another, smallest units. */
export interface Exchanged {
  readonly amountIn: bigint;
  readonly amountOut: bigint;
}

/**
 * Where one currency is exchanged for another. Neither function falls when its amount grows; undefined: not
 * at this size.
 */
export interface Exchange<T extends Exchanged = Exchanged> {
  exactIn(amountIn: bigint): MaybePromise<T | undefined>;
  exactOut(amountOut: bigint): MaybePromise<T | undefined>;
}

/**
 * What stands between the user's currency and the recipient's: an exchange before the deposit, the service's
 * own pricing, an exchange in the fill.
 */
export interface RouteParts<T extends Exchanged> {
  /** Undefined: the user pays what is deposited. */
  readonly origin: Exchange<T> | undefined;
  /** Undefined: the solver pays what the recipient gets. */
  readonly destination: Exchange<T> | undefined;
  readonly facts: PricingFacts;
}

/** A priced route. */
export interface RouteTrade<T extends Exchanged> {
  /** What the user pays. */
  readonly input: bigint;
  readonly origin: T | undefined;
  /**
   * From the deposit to what the solver pays with: `expected` is that, the amount of the fill itself or what
   * its exchange takes.
   */
  readonly priced: PricedTrade;
  readonly destination: T | undefined;
  /** What the recipient is to get. */
  readonly expected: bigint;
}

/**
 * What an input buys through all parts: `destination(forward(origin(input)))`. Never falls when the input
 * grows. Undefined: nothing, or not at this size.
 */
export function* routeOutput<T extends Exchanged>(
  input: bigint,
  { origin, destination, facts }: RouteParts<T>,
): Soon<RouteTrade<T> | undefined> {
  const exchanged = origin && (yield* soon(origin.exactIn(input)));
  if (origin !== undefined && exchanged === undefined) return undefined;
  const priced = forward(exchanged?.amountOut ?? input, facts);
  if (priced.output === 0n) return undefined;
  const paid = { ...priced, expected: priced.output };
  if (destination === undefined)
    return { input, origin: exchanged, priced: paid, destination: undefined, expected: priced.output };
  const filled = yield* soon(destination.exactIn(priced.output));
  if (filled === undefined || filled.amountOut === 0n) return undefined;
  return { input, origin: exchanged, priced: paid, destination: filled, expected: filled.amountOut };
}

/**
 * The least input whose {@link routeOutput} is at least `output` (positive), exact to the unit: the least of
 * a chain of functions that never fall is the chain of their leasts, from the last to the first. Undefined:
 * the exchanges do not bear it.
 */
export function* routeInput<T extends Exchanged>(
  output: bigint,
  { origin, destination, facts }: RouteParts<T>,
): Soon<RouteTrade<T> | undefined> {
  const filled = destination && (yield* minExchange(destination, output));
  if (destination !== undefined && filled === undefined) return undefined;
  const paid = filled?.amountIn ?? output;
  const deposit = inputFor(paid, facts);
  const exchanged = origin && (yield* minExchange(origin, deposit));
  if (origin !== undefined && exchanged === undefined) return undefined;
  const priced = forward(exchanged?.amountOut ?? deposit, facts);
  return {
    input: exchanged?.amountIn ?? deposit,
    origin: exchanged,
    // The least input may yield some units more than asked for: an input has coarser steps than its output.
    priced: { ...priced, expected: paid },
    destination: filled,
    expected: output,
  };
}

/**
 * The exchange of the least input that gives at least `amountOut`. The inverse that pools tell may lie a unit
 * beside it, so it is where the search begins.
 */
export function* minExchange<T extends Exchanged>(
  exchange: Exchange<T>,
  amountOut: bigint,
): Soon<T | undefined> {
  const guess = yield* soon(exchange.exactOut(amountOut));
  if (guess === undefined) return undefined;
  let found: T | undefined;
  const least = yield* minAmount(guess.amountIn, function* (amountIn) {
    const answer = yield* soon(exchange.exactIn(amountIn));
    const reached = answer !== undefined && answer.amountOut >= amountOut;
    if (reached && (found === undefined || amountIn < found.amountIn)) found = answer;
    return reached;
  });
  return least === undefined ? undefined : found;
}
