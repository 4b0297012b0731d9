import type { Currency, Exchange, ForwardQuote, PairClass } from "@causeway/domain";
import {
  amountBelowFees,
  bpsOfUp,
  forward,
  inputFor,
  NATIVE_CURRENCY,
  pairClassOf,
  routeInput,
  routeOutput,
  ServiceError,
} from "@causeway/domain";
import type { RouteTrade } from "@causeway/domain";
import type { RequestEnd } from "../../chains/chains.port.ts";
import type { QuotePolicy } from "../../markets/quote-policy.port.ts";
import type { Market } from "../market.ts";
import type { Reservations } from "../../markets/quote.port.ts";
import { originGasOf } from "../origin-gas.ts";
import { permitGasUnits } from "../permits/permit-gas.ts";
import { currenciesToPrice, priceRoute, type RoutePricing } from "../../markets/index.ts";
import { refuseBeyondLimits, type SolverRoute } from "../quote-limits.ts";
import type { QuoteQuestion } from "../quote-question.ts";
import type { BridgeRoute } from "./chosen-route.ts";
import type { FindExchange, Swapped } from "./find-swaps.ts";
import { depositGasUnits } from "./step-gas.ts";
import { topupGas } from "../../payments/index.ts";
import { addFeeOptions } from "./fee-option-pricing.ts";

export interface BridgeServices {
  readonly quotePolicy: QuotePolicy;
  readonly reservations: Reservations;
  readonly market: Market;
}

/**
 * One end of a route: the currency that is deposited, or that the solver pays with. `exchange` swaps between
 * it and the currency of the user or the recipient; undefined: both are the same currency.
 */
interface End {
  readonly currency: Currency;
  readonly exchange: Exchange<Swapped> | undefined;
}

interface Ends {
  readonly origins: readonly End[];
  readonly destinations: readonly End[];
}

/** One pair of ends, priced closely enough to be ranked. */
interface Candidate {
  readonly origin: End;
  readonly destination: End;
  readonly pricing: RoutePricing;
  readonly originGasUsd: bigint | undefined;
  /** The output of an exact input, or the input of an exact output. */
  readonly rank: bigint;
  /** Set when no swap is involved. */
  readonly trade?: RouteTrade<Swapped> | undefined;
}

/**
 * The best route through the solver: at most one swap before the deposit and one in the fill. A currency that
 * the solver holds is deposited and paid without a swap; the fill swaps only when the solver's balance is too
 * low. Adds the reasons of dropped candidates to `refusals`. Undefined if no candidate remains.
 */
export function bestBridge(
  services: BridgeServices,
  question: QuoteQuestion,
  exchanges: { readonly origin: FindExchange; readonly destination: FindExchange },
  refusals: ServiceError[],
): BridgeRoute | undefined {
  const { origin, destination, originCurrency, destinationCurrency, swaps } = question;
  const origins = originCurrency.supportsBridging
    ? [{ currency: originCurrency, exchange: undefined }]
    : swaps.noOriginSwaps
      ? endsOf(origin, (held) => oneForOneOnly(originCurrency, held, origin, exchanges.origin))
      : endsOf(origin, (held) => exchanges.origin(originCurrency, held));
  if (origins.length === 0) return undefined;
  const paidWithoutSwap = { currency: destinationCurrency, exchange: undefined };
  const direct = destinationCurrency.supportsBridging
    ? bestOf(services, question, { origins, destinations: [paidWithoutSwap] }, refusals)
    : undefined;
  if (direct === undefined && !destinationCurrency.verified) {
    refusals.push(untrustedToken(destinationCurrency));
    return undefined;
  }
  const best =
    direct ??
    bestOf(
      services,
      question,
      {
        origins,
        destinations: endsOf(destination, (held) => exchanges.destination(held, destinationCurrency)),
      },
      refusals,
    );
  return best && priceExactly(services, question, best, refusals);
}

/**
 * Oracles verify a fill by the token's own events, which no contract can check during the fill: a token that
 * emits none would make the solver pay for a fill that cannot be proven. Users may buy any token in their own
 * transactions.
 */
function untrustedToken({ symbol }: Currency): ServiceError {
  return new ServiceError(
    "UNSUPPORTED_ROUTE",
    `destinationCurrency ${symbol} is not in a token list of this service; quote it from a currency on the same chain`,
    { field: "destinationCurrency" },
  );
}

/**
 * Lists tokens before the native token: of two equally good ends, the first wins, and tokens need less gas.
 */
function endsOf(
  { chain }: RequestEnd,
  exchangeFor: (held: Currency) => Exchange<Swapped> | undefined,
): End[] {
  const ends: End[] = [];
  for (const currency of [...chain.tokens, chain.native]) {
    if (!currency.supportsBridging) continue;
    const exchange = exchangeFor(currency);
    if (exchange !== undefined) ends.push({ currency, exchange });
  }
  return ends;
}

/** Allows only wrapping and unwrapping, which do not count as swaps. */
function oneForOneOnly(
  from: Currency,
  to: Currency,
  { chain }: RequestEnd,
  find: FindExchange,
): Exchange<Swapped> | undefined {
  const pair = [from.address, to.address];
  const wrapped = chain.liquidity?.wrappedNative;
  return wrapped !== undefined && pair.includes(NATIVE_CURRENCY) && pair.includes(wrapped)
    ? find(from, to)
    : undefined;
}

function bestOf(
  services: BridgeServices,
  question: QuoteQuestion,
  { origins, destinations }: Ends,
  refusals: ServiceError[],
): Candidate | undefined {
  const isInput = question.tradeType === "EXACT_INPUT";
  const compare = isInput ? fromInput : fromOutput;
  services.market.together(
    ...(isInput ? origins : destinations).map(
      ({ exchange }) =>
        () =>
          exchange?.[isInput ? "exactIn" : "exactOut"](question.amount),
    ),
  );
  const minDeposits = new Map<End, bigint>();
  let best: Candidate | undefined;
  let hasWrappedRoute = false;
  for (const destination of destinations) {
    // The wrapped token buys the same for less gas, so the native token is tried last, and only if the
    // wrapped token failed.
    if (hasWrappedRoute && destination.currency.address === NATIVE_CURRENCY) continue;
    try {
      const found = compare(services, question, { origins, destination, minDeposits }, refusals);
      if (found === undefined) continue;
      hasWrappedRoute ||=
        destination.currency.address === question.destination.chain.liquidity?.wrappedNative;
      if (best === undefined || (isInput ? found.rank > best.rank : found.rank < best.rank)) best = found;
    } catch (error) {
      recordRefusal(refusals, error);
    }
  }
  return best;
}

interface OneDestination {
  readonly origins: readonly End[];
  readonly destination: End;
  /** By origin: the smallest deposit with which an earlier end of the fill bought the requested output. */
  readonly minDeposits: Map<End, bigint>;
}

/**
 * Finds the best origin for an exact input. The origin that pays the solver the most also yields the most
 * through this destination, so only that origin is priced further. The rank estimates the output: the first
 * swap answer, reduced by the gas of the fill's swap.
 */
function fromInput(
  services: BridgeServices,
  question: QuoteQuestion,
  { origins, destination }: OneDestination,
  refusals: ServiceError[],
): Candidate | undefined {
  let best:
    | (Priced & {
        readonly paid: bigint;
        readonly exchanged: Swapped | undefined;
        readonly priced: ForwardQuote;
      })
    | undefined;
  for (const origin of origins) {
    try {
      const exchanged = origin.exchange?.exactIn(question.amount);
      if (origin.exchange !== undefined && exchanged === undefined) continue;
      const ends = priceEnds(services, question, origin, exchanged, destination);
      const priced = forward(exchanged?.amountOut ?? question.amount, ends.pricing.facts);
      const paid = priced.output;
      if (paid === 0n) throw tooLow(question, ends);
      refuseBeyondLimits(services.reservations, routeOf(question, ends), ends.pricing, {
        input: priced.input,
        expected: paid,
      });
      if (best === undefined || paid > best.paid) best = { ...ends, paid, exchanged, priced };
    } catch (error) {
      recordRefusal(refusals, error);
    }
  }
  if (best === undefined) return undefined;
  const { origin, originGasUsd, paid: first, exchanged, priced } = best;
  if (destination.exchange === undefined) {
    const { pricing } = best;
    const trade = {
      input: question.amount,
      origin: exchanged,
      priced: { ...priced, expected: first },
      destination: undefined,
      expected: first,
    };
    return { origin, destination, originGasUsd, pricing, rank: first, trade };
  }
  const probe = destination.exchange.exactIn(first);
  if (probe === undefined || probe.amountOut === 0n) return undefined;
  const pricing = priceFill(services, question, best, probe);
  const paid = forward(priced.input, pricing.facts).output;
  const ends = { origin, destination, originGasUsd, pricing };
  if (paid === 0n) throw tooLow(question, ends);
  refuseBeyondLimits(services.reservations, routeOf(question, ends), pricing, {
    input: priced.input,
    expected: withSwapMargin(paid, probe),
  });
  return { ...ends, rank: (probe.amountOut * paid) / first };
}

function fromOutput(
  services: BridgeServices,
  question: QuoteQuestion,
  { origins, destination, minDeposits }: OneDestination,
  refusals: ServiceError[],
): Candidate | undefined {
  const filled = destination.exchange?.exactOut(question.amount);
  if (destination.exchange !== undefined && filled === undefined) return undefined;
  const paid = filled?.amountIn ?? question.amount;
  let best: Candidate | undefined;
  for (const origin of origins) {
    try {
      // The gas of the origin transaction depends on the swap, but not on the amount.
      const priced = priceEnds(services, question, origin, undefined, destination, filled);
      let deposit = inputFor(paid, priced.pricing.facts);
      const before = minDeposits.get(origin);
      // A smaller deposit never costs the user more, so the earlier destination is at least as good.
      if (priced.originGasUsd === undefined && before !== undefined && before <= deposit) continue;
      const exchanged = origin.exchange?.exactOut(deposit);
      if (origin.exchange !== undefined && exchanged === undefined) continue;
      const final =
        exchanged === undefined || priced.originGasUsd === undefined
          ? priced
          : priceEnds(services, question, origin, exchanged, destination, filled);
      if (final !== priced) deposit = inputFor(paid, final.pricing.facts);
      refuseBeyondLimits(services.reservations, routeOf(question, final), final.pricing, {
        input: deposit,
        expected: withSwapMargin(paid, filled),
      });
      minDeposits.set(origin, deposit);
      const rank = exchanged?.amountIn ?? deposit;
      if (best === undefined || rank < best.rank) best = { ...final, rank };
    } catch (error) {
      recordRefusal(refusals, error);
    }
  }
  return best;
}

/**
 * The inventory that a fill requires, with a margin because its pools may need more at the time of the fill.
 */
function withSwapMargin(paid: bigint, filled: Swapped | undefined): bigint {
  return filled === undefined ? paid : bpsOfUp(paid, 10_000 + filled.slippageBps);
}

type Priced = Omit<Candidate, "rank" | "trade">;

function priceEnds(
  services: BridgeServices,
  question: QuoteQuestion,
  origin: End,
  exchanged: Swapped | undefined,
  destination: End,
  filled?: Swapped,
): Priced {
  const { originGasOverhead, sweepGas, permit } = question;
  const isSentByUser = originGasOverhead === undefined && sweepGas === undefined && permit === undefined;
  const gas = isSentByUser
    ? undefined
    : originGasOf(services.market, question, gasUnitsOf(services, question, origin.currency, exchanged));
  const ends = { origin, destination, originGasUsd: gas };
  return { ...ends, pricing: priceFill(services, question, ends, filled) };
}

function gasUnitsOf(
  { quotePolicy: { gas } }: Pick<BridgeServices, "quotePolicy">,
  { originCurrency: paid, permit }: QuoteQuestion,
  deposited: Currency,
  exchanged: Swapped | undefined,
): bigint {
  return permit === undefined
    ? depositGasUnits(gas, paid, deposited, exchanged)
    : permitGasUnits(gas, permit.method, { paid, deposited, exchanged });
}

function priceFill(
  services: BridgeServices,
  question: QuoteQuestion,
  ends: Pick<Candidate, "origin" | "destination" | "originGasUsd">,
  filled: Swapped | undefined,
): RoutePricing {
  const isExchanged = ends.destination.exchange !== undefined;
  const { market } = services;
  const { destination, recipient, origin, refundTo } = question;
  const route = routeOf(question, ends);
  const costOfPaying = (): bigint | undefined =>
    market.costOfPaying(destination, route.destinationCurrency.address, recipient, "destinationChainId");
  market.together(
    ...currenciesToPrice(route).map((currency) => () => market.usd(currency)),
    costOfPaying,
    () => market.costOfPaying(origin, route.originCurrency.address, refundTo, "originChainId"),
  );
  const pricing = priceRoute(
    { ...services, prices: market },
    market.usd,
    route,
    paysContract(market, question, ends.destination),
    ends.originGasUsd,
    {
      pairClass: classOf(question),
      swapGas: isExchanged ? (filled?.gas ?? 0n) : undefined,
      callsGas: question.calls?.gas ?? topupGas(services.quotePolicy.gas, question.fees?.topupUsd),
      hasTopup: question.fees?.topupUsd !== undefined,
      nonEvmCost: costOfPaying(),
    },
  );
  const { fees } = question;
  if (fees === undefined) return pricing;
  return addFeeOptions(pricing, fees, filled, question.to.isCostRent(question.destinationCurrency));
}

/** The service fee depends on the pair that the user sees, not on the currencies deposited or paid from. */
function classOf({ originCurrency, destinationCurrency }: QuoteQuestion): PairClass {
  return pairClassOf(originCurrency, destinationCurrency);
}

function routeOf(
  { origin, destination, from, to }: QuoteQuestion,
  ends: Pick<Candidate, "origin" | "destination">,
): SolverRoute {
  return {
    origin,
    destination,
    from,
    to,
    originCurrency: ends.origin.currency,
    destinationCurrency: ends.destination.currency,
  };
}

/** Whether the solver pays native tokens to a contract. Reads the recipient's code only in that case. */
function paysContract(
  market: Pick<Market, "hasCode">,
  { to, destination, recipient }: QuoteQuestion,
  { currency, exchange }: End,
): boolean {
  // The native currency of some non-EVM chains has the same bytes as that of EVM chains.
  if (!to.runsRecipientCode || exchange !== undefined || currency.address !== NATIVE_CURRENCY) return false;
  return market.hasCode(destination.chain.id, recipient);
}

function priceExactly(
  services: BridgeServices,
  question: QuoteQuestion,
  candidate: Candidate,
  refusals: ServiceError[],
): BridgeRoute | undefined {
  const { origin, destination, pricing, originGasUsd } = candidate;
  let { trade } = candidate;
  if (trade === undefined)
    try {
      const parts = { origin: origin.exchange, destination: destination.exchange, facts: pricing.facts };
      const { amount, tradeType } = question;
      trade = tradeType === "EXACT_INPUT" ? routeOutput(amount, parts) : routeInput(amount, parts);
      if (trade === undefined) return undefined;
      refuseBeyondLimits(services.reservations, routeOf(question, candidate), pricing, {
        input: trade.priced.input,
        expected: withSwapMargin(trade.priced.expected, trade.destination),
      });
    } catch (error) {
      recordRefusal(refusals, error);
      return undefined;
    }
  return {
    kind: "bridge",
    deposited: origin.currency,
    paidFrom: destination.currency,
    pricing,
    trade,
    fillExchange: destination.exchange,
    originGasUsd,
  };
}

/** The error names the minimum in the user's currency if a swap can compute it. */
function tooLow({ amount, originCurrency }: QuoteQuestion, { origin, pricing }: Priced): ServiceError {
  const deposit = inputFor(1n, pricing.facts);
  const minimum = origin.exchange === undefined ? deposit : origin.exchange.exactOut(deposit)?.amountIn;
  return amountBelowFees(amount, minimum, originCurrency);
}

/** Records why a candidate was dropped. Rethrows unexpected errors. */
function recordRefusal(refusals: ServiceError[], error: unknown): void {
  if (!(error instanceof ServiceError)) throw error;
  refusals.push(error);
}
