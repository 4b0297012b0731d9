import { amountToUsdUp, appBpsOf, forward, rateOffBps } from "@causeway/domain";
import type { PricingFacts, RequestTerms } from "@causeway/domain";
import type { RoutePricing } from "./quote-pricing.ts";

/** What terms say about fees, and about what is paid beside the output. */
type FeeTerms = Pick<RequestTerms, "appFees" | "sponsorship" | "gasTopup">;

/**
 * The prices of a route with what its terms say of fees: what apps take is taken, and what a sponsor promised
 * is added, or whatever his rate asks for by now.
 */
export function agreedPricing(
  pricing: RoutePricing,
  { appFees, sponsorship, gasTopup }: FeeTerms,
): RoutePricing {
  if (appFees === undefined && sponsorship === undefined && gasTopup === undefined) return pricing;
  const { fixedRate, amount } = sponsorship ?? {};
  const sponsored: PricingFacts["sponsored"] =
    fixedRate !== undefined
      ? { kind: "fixedRate", rate: fixedRate }
      : amount === undefined
        ? undefined
        : { kind: "promised", amount };
  return {
    ...pricing,
    facts: {
      ...pricing.facts,
      appBps: appBpsOf(appFees?.fees ?? []),
      ...(gasTopup !== undefined && { topupWei: gasTopup.amount }),
      ...(sponsored !== undefined && { sponsored }),
    },
  };
}

/**
 * What the sponsor pays of a fill now, USD with 18 decimals: what he promised, or what his rate asks for.
 * Undefined: keeping the rate costs more than he would bear, or prices have moved too far beside it. Nothing
 * without a sponsor.
 */
export function sponsoredUsd(
  { sponsorship }: FeeTerms,
  deposited: bigint,
  { facts }: RoutePricing,
): bigint | undefined {
  if (sponsorship?.fixedRate === undefined) return sponsorship?.usd ?? 0n;
  if (rateOffBps(sponsorship.fixedRate, facts) > MAX_RATE_OFF_BPS) return undefined;
  const usd = amountToUsdUp(forward(deposited, facts).sponsored ?? 0n, facts.origin);
  return sponsorship.maxUsd !== undefined && usd > sponsorship.maxUsd ? undefined : usd;
}

/**
 * What the sponsor is not charged of that, because the origin transaction, which he was to pay a part of,
 * cost nothing. USD with 18 decimals.
 */
export function sparedSponsor({ sponsorship }: FeeTerms, sponsored: bigint, unspentUsd: bigint): bigint {
  if (sponsorship === undefined) return 0n;
  const paid =
    sponsorship.fixedRate === undefined ? sponsorship.components.execution.sponsoredUsd : sponsored;
  const most = paid < sponsored ? paid : sponsored;
  return unspentUsd < most ? unspentUsd : most;
}

/** A rate that lies further beside the prices, bps, is somebody's mistake. */
export const MAX_RATE_OFF_BPS = 500n;
