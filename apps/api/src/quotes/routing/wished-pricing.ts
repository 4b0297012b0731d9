import type { FeesSponsored, PricingFacts } from "@causeway/domain";
import { appBpsOf, convertDown, usdToAmountDown } from "@causeway/domain";
import type { RoutePricing } from "../../markets/prices/quote-pricing.ts";
import type { Swapped } from "./exchanges.ts";
import type { FeeWishes, SponsorWish } from "./fee-wishes.ts";

/**
 * The prices of a route with what its client says about fees.
 * @param filled the exchange in the fill, as far as it is known by now; of a token that somebody vouches for,
 * as what pools of any other take goes to whoever made them
 */
export function wishedPricing(
  pricing: RoutePricing,
  { appFees, sponsor, topupUsd }: FeeWishes,
  filled: Swapped | undefined,
): RoutePricing {
  const { facts } = pricing;
  const paid = filled === undefined ? 0n : swapLoss(filled, facts);
  return {
    ...pricing,
    facts: {
      ...facts,
      appBps: appBpsOf(appFees),
      ...(topupUsd !== undefined && { topupWei: usdToAmountDown(topupUsd, facts.destinationNative) }),
      ...(sponsor !== undefined && { sponsored: sponsoredOf(sponsor, facts, paid) }),
    },
  };
}

function sponsoredOf(
  { selected, maxUsd, fixedRate }: SponsorWish,
  { origin }: Pick<PricingFacts, "origin">,
  swapPaid: bigint,
): FeesSponsored {
  if (fixedRate !== undefined) return { kind: "fixedRate", rate: fixedRate };
  return {
    kind: "components",
    execution: selected.has("execution"),
    service: selected.has("relay"),
    app: selected.has("app"),
    swap: selected.has("swap") ? swapPaid : 0n,
    cap: capOf({ maxUsd }, { origin }),
  };
}

/** The most that a sponsor pays, smallest units of what is deposited. */
export function capOf(
  { maxUsd }: Pick<SponsorWish, "maxUsd">,
  { origin }: Pick<PricingFacts, "origin">,
): bigint | undefined {
  return maxUsd === undefined ? undefined : usdToAmountDown(maxUsd, origin);
}

/**
 * What an exchange takes of what goes in, its pools' own price for the smallest amounts being the measure; in
 * smallest units of what is deposited, rounded down.
 */
export function swapLoss(
  { amountIn, amountOut, spotOut }: Swapped,
  { origin, destination }: Pick<PricingFacts, "origin" | "destination">,
): bigint {
  if (spotOut <= amountOut) return 0n;
  return convertDown(amountIn - (amountIn * amountOut + spotOut - 1n) / spotOut, destination, origin);
}
