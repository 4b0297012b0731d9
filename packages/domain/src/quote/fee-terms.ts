import { amountToUsdUp } from "../money/usd.ts";
import type { RequestTerms } from "../request/terms.ts";
import { appBpsOf } from "./app-fees.ts";
import { MAX_RATE_DEVIATION_BPS, rateDeviationBps } from "./fixed-rate.ts";
import { priceInput } from "./output-for-input.ts";
import type { PricingFacts } from "./output-for-input.ts";

/** The prices of a route. */
interface Priced {
  readonly facts: PricingFacts;
}

/** The parts of the terms that change prices: fees, and what is paid in addition to the output. */
type FeeTerms = Pick<RequestTerms, "appFees" | "sponsorship" | "gasTopup">;

/**
 * The prices of a route under its terms, with app fees deducted and the sponsor's part added. The sponsor
 * pays the agreed amount or, with a fixed rate, what that rate requires now.
 */
export function applyFeeTerms<P extends Priced>(pricing: P, { appFees, sponsorship, gasTopup }: FeeTerms): P {
  if (appFees === undefined && sponsorship === undefined && gasTopup === undefined) return pricing;
  const { fixedRate, amount } = sponsorship ?? {};
  const sponsored: PricingFacts["sponsored"] =
    fixedRate !== undefined
      ? { kind: "fixedRate", rate: fixedRate }
      : amount === undefined
        ? undefined
        : { kind: "agreed", amount };
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
 * What the sponsor pays of a fill now, USD with 18 decimals: the agreed amount, or what the fixed rate
 * requires. Undefined if the rate costs more than the sponsor's limit or is too far from the prices. 0
 * without a sponsor.
 */
export function sponsoredUsd(
  { sponsorship }: FeeTerms,
  deposited: bigint,
  { facts }: Priced,
): bigint | undefined {
  if (sponsorship?.fixedRate === undefined) return sponsorship?.usd ?? 0n;
  if (rateDeviationBps(sponsorship.fixedRate, facts) > MAX_RATE_DEVIATION_BPS) return undefined;
  const usd = amountToUsdUp(priceInput(deposited, facts).sponsored ?? 0n, facts.origin);
  return sponsorship.maxUsd !== undefined && usd > sponsorship.maxUsd ? undefined : usd;
}

/**
 * What the sponsor is not charged because the service did not spend the origin transaction's gas. At most the
 * gas share of the agreed amount or, with a fixed rate, the whole sponsored amount. USD with 18 decimals.
 */
export function unspentSponsorUsd({ sponsorship }: FeeTerms, sponsored: bigint, unspentUsd: bigint): bigint {
  if (sponsorship === undefined) return 0n;
  // The gas of the origin transaction is part of `execution` or `rent`.
  const { execution, rent } = sponsorship.components;
  const gasShareUsd =
    sponsorship.fixedRate === undefined ? execution.sponsoredUsd + rent.sponsoredUsd : sponsored;
  const limitUsd = gasShareUsd < sponsored ? gasShareUsd : sponsored;
  return unspentUsd < limitUsd ? unspentUsd : limitUsd;
}
