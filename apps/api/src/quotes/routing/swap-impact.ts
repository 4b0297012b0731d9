import type { PricedUnit } from "@causeway/domain";
import { ServiceError, swapImpactBps } from "@causeway/domain";
import type { QuoteQuestion } from "../quote-question.ts";
import type { ChosenRoute, RouteValues } from "./chosen-route.ts";
import type { RouteSwap } from "./find-swaps.ts";

/**
 * The cost of a route's swaps: pool fees, price impact, and deviation from known prices; in bps of the input,
 * rounded down. Negative if the swaps yield more than known prices. Undefined without swaps.
 */
export function routeImpactBps(
  route: ChosenRoute,
  { input, deposited, output }: RouteValues,
): bigint | undefined {
  const { trade } = route;
  if (trade.origin === undefined && trade.destination === undefined) return undefined;
  const originImpact =
    trade.origin === undefined
      ? undefined
      : impactOf(trade.origin, input, route.kind === "bridge" ? deposited : output);
  const paid = route.kind === "bridge" ? route.pricing.facts.destination : output;
  const fillImpact = trade.destination === undefined ? undefined : impactOf(trade.destination, paid, output);
  return (originImpact ?? 0n) + (fillImpact ?? 0n);
}

/** @throws ServiceError SWAP_IMPACT_TOO_HIGH unless the client allows such quotes */
export function refuseImpact(
  maxBps: number,
  { swaps }: QuoteQuestion,
  route: ChosenRoute,
  values: RouteValues,
): void {
  if (swaps.allowsAnyImpact) return;
  const impactBps = routeImpactBps(route, values);
  if (impactBps === undefined || impactBps <= BigInt(maxBps)) return;
  throw new ServiceError(
    "SWAP_IMPACT_TOO_HIGH",
    `Swap impact is ${impactBps} bps (maximum ${maxBps}); lower amount, or set overridePriceImpact`,
    {
      field: "amount",
      data: { swapImpactBps: Number(impactBps), maxSwapImpactBps: maxBps },
    },
  );
}

/** Undefined for wrapping and unwrapping, which are one for one. */
function impactOf(swap: RouteSwap, from: PricedUnit, to: PricedUnit): bigint | undefined {
  return swap.pool === undefined ? undefined : swapImpactBps(swap, from, to);
}
