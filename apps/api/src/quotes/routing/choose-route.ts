import type { ErrorCode, PricedUnit } from "@causeway/domain";
import { amountToUsdDown, NATIVE_CURRENCY, ServiceError } from "@causeway/domain";
import { refuseTinySwap } from "../minimum-swap.ts";
import { refuseBeyondCap } from "../quote-limits.ts";
import type { QuoteQuestion } from "../quote-question.ts";
import { bestBridge } from "./bridge-route.ts";
import type { BridgeServices } from "./bridge-route.ts";
import type { ChosenRoute, DirectRoute, RouteValues } from "./chosen-route.ts";
import { freeTrade } from "./chosen-route.ts";
import { quotersOn, findNoQuoter } from "./find-swaps.ts";
import type { FindQuoter } from "./find-swaps.ts";
import { refuseImpact } from "./swap-impact.ts";
import { bestSwap } from "./swap-route.ts";
import { valuesOf } from "./value-route.ts";
import type { ValueServices } from "./value-route.ts";

export type RouteServices = BridgeServices & ValueServices;

export interface ValuedRoute {
  readonly route: ChosenRoute;
  readonly values: RouteValues;
}

/**
 * Picks the best route: the most output for an exact input, or the least input for an output. Between equal
 * routes, prefers the user's own transaction, then the configured order.
 * @throws ServiceError of the route that came closest
 */
export function chooseRoute(services: RouteServices, question: QuoteQuestion): ValuedRoute {
  if (question.isSend) {
    const { destination, originCurrency, recipient } = question;
    const toContract =
      originCurrency.address === NATIVE_CURRENCY && services.market.hasCode(destination.chain.id, recipient);
    const route = { ...sendOf(question), toContract };
    const values = valuesOf(services, question, route);
    refuseDirect(question, route, values);
    return { route, values };
  }
  const { origin, destination, from, to, swaps, slippageBps } = question;
  const { market, quotePolicy } = services;
  const { routed } = quotePolicy.gas;
  const findOnOrigin: FindQuoter = from.can.swapsBefore
    ? quotersOn(market, origin, swaps.origin, routed, slippageBps)
    : findNoQuoter;
  const refusals: ServiceError[] = [];
  const directSwap = from.can.sends ? bestSwap(question, findOnOrigin, refusals) : undefined;
  const findQuoters = {
    origin: findOnOrigin,
    destination: to.can.swapsInFill
      ? quotersOn(market, destination, swaps.destination, routed)
      : findNoQuoter,
  };
  // On one chain, the user can swap in pools directly, so the solver competes only for pairs that it holds.
  const isLocal = origin === destination && !swaps.isFilledBySolver;
  const solverHoldsBoth =
    question.originCurrency.supportsBridging && question.destinationCurrency.supportsBridging;
  const bridge =
    isLocal && !solverHoldsBoth ? undefined : bestBridge(services, question, findQuoters, refusals);
  const route = chooseBetter(question, directSwap, bridge);
  if (route === undefined) throw bestError(question, refusals);
  const values = valuesOf(services, question, route);
  if (route.kind !== "bridge") refuseDirect(question, route, values);
  refuseImpact(quotePolicy.maxSwapImpactBps, question, route, values);
  return { route, values };
}

function chooseBetter<A extends ChosenRoute, B extends ChosenRoute>(
  { tradeType }: QuoteQuestion,
  direct: A | undefined,
  bridge: B | undefined,
): A | B | undefined {
  if (direct === undefined || bridge === undefined) return direct ?? bridge;
  if (tradeType === "EXACT_INPUT") return direct.trade.expected >= bridge.trade.expected ? direct : bridge;
  return direct.trade.input <= bridge.trade.input ? direct : bridge;
}

/** Codes about the request itself, which help the client more than an error of a source. */
const requestErrors: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "AMOUNT_TOO_LOW",
  "INSUFFICIENT_LIQUIDITY",
  "ROUTE_TEMPORARILY_RESTRICTED",
  "INVALID_REQUEST",
]);

function bestError({ swaps }: QuoteQuestion, refusals: readonly ServiceError[]): ServiceError {
  const refusal = refusals.find(({ code }) => requestErrors.has(code)) ?? refusals[0];
  if (refusal !== undefined) return refusal;
  // An excluded source might have a route: tell the client how to allow external sources.
  return swaps.origin.excludesExternal || swaps.destination.excludesExternal
    ? new ServiceError(
        "NO_INTERNAL_SWAP_ROUTES_FOUND",
        "No routes found in the liquidity of this service; try useExternalLiquidity",
        {
          field: "useExternalLiquidity",
        },
      )
    : noRoutes(swaps.filters);
}

function noRoutes(filters: readonly string[]): ServiceError {
  const [field] = filters;
  return field === undefined
    ? new ServiceError("NO_SWAP_ROUTES_FOUND", "No routes found")
    : new ServiceError(
        "NO_SWAP_ROUTES_FOUND",
        `No routes found with ${filters.join(", ")}; try without ${filters.length === 1 ? "this field" : "these fields"}`,
        { field },
      );
}

/** A payment from the user to the recipient, without fees or price changes. */
function sendOf({ originCurrency, amount }: QuoteQuestion): DirectRoute {
  return {
    kind: "send",
    deposited: originCurrency,
    paidFrom: originCurrency,
    trade: {
      input: amount,
      origin: undefined,
      priced: freeTrade(amount),
      destination: undefined,
      expected: amount,
    },
  };
}

function refuseDirect(
  { origin, originCurrency }: QuoteQuestion,
  { kind, trade }: DirectRoute,
  { input, output, originNative }: RouteValues,
): void {
  refuseBeyondCap(origin, trade.input, input, originNative, "originChainId");
  if (kind !== "swap" || trade.origin?.pool === undefined) return;
  const inputUsd = valueOf(trade.input, input);
  if (inputUsd !== undefined) return refuseTinySwap(inputUsd, { unit: input, currency: originCurrency });
  const outputUsd = valueOf(trade.expected, output);
  if (outputUsd !== undefined) refuseTinySwap(outputUsd);
}

function valueOf(amount: bigint, unit: PricedUnit): bigint | undefined {
  return unit.priceUsd === 0n ? undefined : amountToUsdDown(amount, unit);
}
