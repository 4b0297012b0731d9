import type { Currency, SwapQuoter, PricedInput, PairClass } from "@causeway/domain";
import {
  amountBelowFees,
  bpsOfUp,
  priceInput,
  inputForOutput,
  NATIVE_CURRENCY,
  pairClassOf,
  routeInput,
  routeOutput,
  ServiceError,
} from "@causeway/domain";
import type { RouteTrade } from "@causeway/domain";
import type { AnyConnectedChain } from "../../chains/chains.port.ts";
import type { QuotePolicy } from "../../markets/quote-policy.port.ts";
import type { Market } from "../market.ts";
import type { Reservations } from "../../markets/quote.port.ts";
import { originGasOf } from "../origin-gas.ts";
import { permitGasUnits } from "../permits/permit-gas.ts";
import { currenciesToPrice, priceRoute, type RoutePricing } from "../../markets/index.ts";
import { refuseBeyondLimits, type SolverRoute } from "../quote-limits.ts";
import type { QuoteQuestion } from "../quote-question.ts";
import type { BridgeRoute } from "./chosen-route.ts";
import type { FindQuoter, RouteSwap } from "./find-swaps.ts";
import { depositGasUnits } from "./step-gas.ts";
import { topupGas } from "../../payments/index.ts";
import { addFeeOptions } from "./fee-option-pricing.ts";

export interface BridgeServices {
  readonly quotePolicy: QuotePolicy;
  readonly reservations: Reservations;
  readonly market: Market;
}

/**
 * One end of a route: the currency that is deposited, or that the solver pays with. `quoter` quotes swaps
 * between it and the currency of the user or the recipient; undefined: both are the same currency.
 */
interface End {
  readonly currency: Currency;
  readonly quoter: SwapQuoter<RouteSwap> | undefined;
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
  readonly trade?: RouteTrade<RouteSwap> | undefined;
}

/**
 * The best route through the solver: at most one swap before the deposit and one in the fill. A currency that
 * the solver holds is deposited and paid without a swap; the fill swaps only when the solver's balance is too
 * low. Adds the reasons of dropped candidates to `refusals`. Undefined if no candidate remains.
 */
export function bestBridge(
  services: BridgeServices,
  question: QuoteQuestion,
  findQuoters: { readonly origin: FindQuoter; readonly destination: FindQuoter },
  refusals: ServiceError[],
): BridgeRoute | undefined {
  const { origin, destination, originCurrency, destinationCurrency, swaps } = question;
  const origins = originCurrency.supportsBridging
    ? [{ currency: originCurrency, quoter: undefined }]
    : swaps.noOriginSwaps
      ? endsOf(origin, (currency) => findOneForOne(originCurrency, currency, origin, findQuoters.origin))
      : endsOf(origin, (currency) => findQuoters.origin(originCurrency, currency));
  if (origins.length === 0) return undefined;
  const paidWithoutSwap = { currency: destinationCurrency, quoter: undefined };
  const direct = destinationCurrency.supportsBridging
    ? bestPair(services, question, { origins, destinations: [paidWithoutSwap] }, refusals)
    : undefined;
  if (direct === undefined && !destinationCurrency.verified) {
    refusals.push(untrustedToken(destinationCurrency));
    return undefined;
  }
  const best =
    direct ??
    bestPair(
      services,
      question,
      {
        origins,
        destinations: endsOf(destination, (currency) =>
          findQuoters.destination(currency, destinationCurrency),
        ),
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
  { chain }: AnyConnectedChain,
  quoterFor: (currency: Currency) => SwapQuoter<RouteSwap> | undefined,
): End[] {
  const ends: End[] = [];
  for (const currency of [...chain.tokens, chain.native]) {
    if (!currency.supportsBridging) continue;
    const quoter = quoterFor(currency);
    if (quoter !== undefined) ends.push({ currency, quoter });
  }
  return ends;
}

/** Allows only wrapping and unwrapping, which do not count as swaps. */
function findOneForOne(
  from: Currency,
  to: Currency,
  { chain }: AnyConnectedChain,
  find: FindQuoter,
): SwapQuoter<RouteSwap> | undefined {
  const pair = [from.address, to.address];
  const wrapped = chain.liquidity?.wrappedNative;
  return wrapped !== undefined && pair.includes(NATIVE_CURRENCY) && pair.includes(wrapped)
    ? find(from, to)
    : undefined;
}

function bestPair(
  services: BridgeServices,
  question: QuoteQuestion,
  { origins, destinations }: Ends,
  refusals: ServiceError[],
): Candidate | undefined {
  const isExactInput = question.tradeType === "EXACT_INPUT";
  const findBestOrigin = isExactInput ? bestOriginForInput : bestOriginForOutput;
  services.market.together(
    ...(isExactInput ? origins : destinations).map(
      ({ quoter }) =>
        () =>
          quoter?.[isExactInput ? "exactIn" : "exactOut"](question.amount),
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
      const candidate = findBestOrigin(services, question, { origins, destination, minDeposits }, refusals);
      if (candidate === undefined) continue;
      hasWrappedRoute ||=
        destination.currency.address === question.destination.chain.liquidity?.wrappedNative;
      if (best === undefined || (isExactInput ? candidate.rank > best.rank : candidate.rank < best.rank))
        best = candidate;
    } catch (error) {
      recordRefusal(refusals, error);
    }
  }
  return best;
}

interface DestinationSearch {
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
function bestOriginForInput(
  services: BridgeServices,
  question: QuoteQuestion,
  { origins, destination }: DestinationSearch,
  refusals: ServiceError[],
): Candidate | undefined {
  let best:
    | (PricedEnds & {
        readonly paid: bigint;
        readonly originSwap: RouteSwap | undefined;
        readonly priced: PricedInput;
      })
    | undefined;
  for (const origin of origins) {
    try {
      const originSwap = origin.quoter?.exactIn(question.amount);
      if (origin.quoter !== undefined && originSwap === undefined) continue;
      const ends = priceEnds(services, question, origin, originSwap, destination);
      const priced = priceInput(originSwap?.amountOut ?? question.amount, ends.pricing.facts);
      const paid = priced.output;
      if (paid === 0n) throw tooLow(question, ends);
      refuseBeyondLimits(services.reservations, solverRouteOf(question, ends), ends.pricing, {
        input: priced.input,
        expected: paid,
      });
      if (best === undefined || paid > best.paid) best = { ...ends, paid, originSwap, priced };
    } catch (error) {
      recordRefusal(refusals, error);
    }
  }
  if (best === undefined) return undefined;
  const { origin, originGasUsd, paid: estimatedPaid, originSwap, priced } = best;
  if (destination.quoter === undefined) {
    const { pricing } = best;
    const trade = {
      input: question.amount,
      origin: originSwap,
      priced: { ...priced, expected: estimatedPaid },
      destination: undefined,
      expected: estimatedPaid,
    };
    return { origin, destination, originGasUsd, pricing, rank: estimatedPaid, trade };
  }
  const probe = destination.quoter.exactIn(estimatedPaid);
  if (probe === undefined || probe.amountOut === 0n) return undefined;
  const pricing = priceFill(services, question, best, probe);
  const paid = priceInput(priced.input, pricing.facts).output;
  const ends = { origin, destination, originGasUsd, pricing };
  if (paid === 0n) throw tooLow(question, ends);
  refuseBeyondLimits(services.reservations, solverRouteOf(question, ends), pricing, {
    input: priced.input,
    expected: withSwapMargin(paid, probe),
  });
  return { ...ends, rank: (probe.amountOut * paid) / estimatedPaid };
}

function bestOriginForOutput(
  services: BridgeServices,
  question: QuoteQuestion,
  { origins, destination, minDeposits }: DestinationSearch,
  refusals: ServiceError[],
): Candidate | undefined {
  const fillSwap = destination.quoter?.exactOut(question.amount);
  if (destination.quoter !== undefined && fillSwap === undefined) return undefined;
  const paid = fillSwap?.amountIn ?? question.amount;
  let best: Candidate | undefined;
  for (const origin of origins) {
    try {
      // The gas of the origin transaction depends on the swap, but not on the amount.
      const priced = priceEnds(services, question, origin, undefined, destination, fillSwap);
      let deposit = inputForOutput(paid, priced.pricing.facts);
      const earlierDeposit = minDeposits.get(origin);
      // A smaller deposit never costs the user more, so the earlier destination is at least as good.
      if (priced.originGasUsd === undefined && earlierDeposit !== undefined && earlierDeposit <= deposit)
        continue;
      const originSwap = origin.quoter?.exactOut(deposit);
      if (origin.quoter !== undefined && originSwap === undefined) continue;
      const repriced =
        originSwap === undefined || priced.originGasUsd === undefined
          ? priced
          : priceEnds(services, question, origin, originSwap, destination, fillSwap);
      if (repriced !== priced) deposit = inputForOutput(paid, repriced.pricing.facts);
      refuseBeyondLimits(services.reservations, solverRouteOf(question, repriced), repriced.pricing, {
        input: deposit,
        expected: withSwapMargin(paid, fillSwap),
      });
      minDeposits.set(origin, deposit);
      const rank = originSwap?.amountIn ?? deposit;
      if (best === undefined || rank < best.rank) best = { ...repriced, rank };
    } catch (error) {
      recordRefusal(refusals, error);
    }
  }
  return best;
}

/**
 * The inventory that a fill requires, with a margin because its pools may need more at the time of the fill.
 */
function withSwapMargin(paid: bigint, fillSwap: RouteSwap | undefined): bigint {
  return fillSwap === undefined ? paid : bpsOfUp(paid, 10_000 + fillSwap.slippageBps);
}

type PricedEnds = Omit<Candidate, "rank" | "trade">;

function priceEnds(
  services: BridgeServices,
  question: QuoteQuestion,
  origin: End,
  originSwap: RouteSwap | undefined,
  destination: End,
  fillSwap?: RouteSwap,
): PricedEnds {
  const { originGasOverhead, sweepGas, permit } = question;
  const isSentByUser = originGasOverhead === undefined && sweepGas === undefined && permit === undefined;
  const originGasUsd = isSentByUser
    ? undefined
    : originGasOf(services.market, question, gasUnitsOf(services, question, origin.currency, originSwap));
  const ends = { origin, destination, originGasUsd };
  return { ...ends, pricing: priceFill(services, question, ends, fillSwap) };
}

function gasUnitsOf(
  { quotePolicy: { gas } }: Pick<BridgeServices, "quotePolicy">,
  { originCurrency: paid, permit }: QuoteQuestion,
  deposited: Currency,
  originSwap: RouteSwap | undefined,
): bigint {
  return permit === undefined
    ? depositGasUnits(gas, paid, deposited, originSwap)
    : permitGasUnits(gas, permit.method, { paid, deposited, originSwap });
}

function priceFill(
  services: BridgeServices,
  question: QuoteQuestion,
  ends: Pick<Candidate, "origin" | "destination" | "originGasUsd">,
  fillSwap: RouteSwap | undefined,
): RoutePricing {
  const swapsInFill = ends.destination.quoter !== undefined;
  const { market } = services;
  const { destination, recipient, origin, refundTo } = question;
  const route = solverRouteOf(question, ends);
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
      swapGas: swapsInFill ? (fillSwap?.gas ?? 0n) : undefined,
      callsGas: question.calls?.gas ?? topupGas(services.quotePolicy.gas, question.fees?.topupUsd),
      hasTopup: question.fees?.topupUsd !== undefined,
      nonEvmCost: costOfPaying(),
    },
  );
  const { fees } = question;
  if (fees === undefined) return pricing;
  return addFeeOptions(pricing, fees, fillSwap, question.to.isCostRent(question.destinationCurrency));
}

/** The service fee depends on the pair that the user sees, not on the currencies deposited or paid from. */
function classOf({ originCurrency, destinationCurrency }: QuoteQuestion): PairClass {
  return pairClassOf(originCurrency, destinationCurrency);
}

function solverRouteOf(
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
  { currency, quoter }: End,
): boolean {
  // The native currency of some non-EVM chains has the same bytes as that of EVM chains.
  if (!to.runsRecipientCode || quoter !== undefined || currency.address !== NATIVE_CURRENCY) return false;
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
      const parts = { origin: origin.quoter, destination: destination.quoter, facts: pricing.facts };
      const { amount, tradeType } = question;
      trade = tradeType === "EXACT_INPUT" ? routeOutput(amount, parts) : routeInput(amount, parts);
      if (trade === undefined) return undefined;
      refuseBeyondLimits(services.reservations, solverRouteOf(question, candidate), pricing, {
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
    fillQuoter: destination.quoter,
    originGasUsd,
  };
}

/** The error names the minimum in the user's currency if a swap can compute it. */
function tooLow({ amount, originCurrency }: QuoteQuestion, { origin, pricing }: PricedEnds): ServiceError {
  const deposit = inputForOutput(1n, pricing.facts);
  const minimum = origin.quoter === undefined ? deposit : origin.quoter.exactOut(deposit)?.amountIn;
  return amountBelowFees(amount, minimum, originCurrency);
}

/** Records why a candidate was dropped. Rethrows unexpected errors. */
function recordRefusal(refusals: ServiceError[], error: unknown): void {
  if (!(error instanceof ServiceError)) throw error;
  refusals.push(error);
}
