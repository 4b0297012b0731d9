import type { FeesSponsored, PricingFacts } from "@causeway/domain";
import { appBpsOf, swapLoss, usdToAmountDown } from "@causeway/domain";
import type { RoutePricing } from "../../markets/index.ts";
import type { RouteSwap } from "./find-swaps.ts";
import type { FeeOptions, SponsorOptions } from "./fee-options.ts";

/**
 * Prices a route with the client's fee options.
 * @param fillSwap the swap in the fill, if known; only for trusted tokens, because the pool owners of an
 * untrusted token would receive the sponsor's funds
 * @param isCostRent whether the execution fee counts as `rent`
 */
export function addFeeOptions(
  pricing: RoutePricing,
  { appFees, sponsor, topupUsd }: FeeOptions,
  fillSwap: RouteSwap | undefined,
  isCostRent: boolean,
): RoutePricing {
  const { facts } = pricing;
  const swapCost = fillSwap === undefined ? 0n : swapLoss(fillSwap, facts.destination, facts.origin);
  return {
    ...pricing,
    facts: {
      ...facts,
      appBps: appBpsOf(appFees),
      ...(topupUsd !== undefined && { topupWei: usdToAmountDown(topupUsd, facts.destinationNative) }),
      ...(sponsor !== undefined && { sponsored: sponsoredOf(sponsor, facts, swapCost, isCostRent) }),
    },
  };
}

function sponsoredOf(
  { selected, maxUsd, fixedRate }: SponsorOptions,
  { origin }: Pick<PricingFacts, "origin">,
  swapCost: bigint,
  isCostRent: boolean,
): FeesSponsored {
  if (fixedRate !== undefined) return { kind: "fixedRate", rate: fixedRate };
  return {
    kind: "components",
    execution: selected.has(isCostRent ? "rent" : "execution"),
    service: selected.has("relay"),
    app: selected.has("app"),
    swap: selected.has("swap") ? swapCost : 0n,
    cap: capOf({ maxUsd }, { origin }),
  };
}

/** The most that a sponsor pays, in base units of the deposit. */
export function capOf(
  { maxUsd }: Pick<SponsorOptions, "maxUsd">,
  { origin }: Pick<PricingFacts, "origin">,
): bigint | undefined {
  return maxUsd === undefined ? undefined : usdToAmountDown(maxUsd, origin);
}
