import type { PricedUnit } from "@causeway/domain";
import { amountToUsdDown, BPS, ServiceError } from "@causeway/domain";
import type { QuoteQuestion } from "../quote-question.ts";
import type { ChosenRoute, RouteValues } from "./chosen-route.ts";
import type { Swapped } from "./exchanges.ts";

/**
 * What the swaps of a route cost: pool fees, price impact, and deviation from known prices; in bps of the
 * input, rounded down. Negative when they yield more than that. Undefined without swaps.
 */
export function swapImpactBps(
  route: ChosenRoute,
  { input, deposited, output }: RouteValues,
): bigint | undefined {
  const { trade } = route;
  if (trade.origin === undefined && trade.destination === undefined) return undefined;
  const before =
    trade.origin === undefined
      ? undefined
      : lossOf(trade.origin, input, route.kind === "bridge" ? deposited : output);
  const paid = route.kind === "bridge" ? route.pricing.facts.destination : output;
  const after = trade.destination === undefined ? undefined : lossOf(trade.destination, paid, output);
  return (before ?? 0n) + (after ?? 0n);
}

/** @throws ServiceError SWAP_IMPACT_TOO_HIGH unless the client allows such quotes */
export function refuseImpact(
  maxBps: number,
  { swaps }: QuoteQuestion,
  route: ChosenRoute,
  values: RouteValues,
): void {
  if (swaps.anyImpact) return;
  const impactBps = swapImpactBps(route, values);
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

/** The larger of the losses against the price of the smallest trade and against known prices. */
function lossOf(
  { amountIn, amountOut, spotOut, pool }: Swapped,
  from: PricedUnit,
  to: PricedUnit,
): bigint | undefined {
  if (pool === undefined) return undefined;
  const bySpot = spotOut === 0n ? 0n : ((spotOut - amountOut) * BPS) / spotOut;
  const wasWorth = amountToUsdDown(amountIn, from);
  const isWorth = amountToUsdDown(amountOut, to);
  const byPrice = wasWorth === 0n || isWorth === 0n ? bySpot : ((wasWorth - isWorth) * BPS) / wasWorth;
  return byPrice > bySpot ? byPrice : bySpot;
}
