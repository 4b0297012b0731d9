import type { Address } from "../ids/hex.ts";
import { formatUsd, toWrittenUsd } from "../money/decimal-text.ts";
import { amountToUsdDown } from "../money/usd.ts";
import type { PricedUnit } from "../money/usd.ts";
import type { FixedRate } from "./fixed-rate.ts";

/**
 * The fees of the destination side that a sponsor can pay. `relay` is the service's own fee. `rent` replaces
 * `execution` where the recipient can collect most of the payment's cost.
 */
export const feeComponents = ["execution", "swap", "relay", "app", "rent"] as const;
export type FeeComponent = (typeof feeComponents)[number];

/** Fees that are sponsored by default. Excludes `rent`, which a recipient could collect repeatedly. */
export const DEFAULT_SPONSORED: readonly FeeComponent[] = ["execution", "swap", "relay", "app"];

/** One fee and the sponsor's part of it: USD with 18 decimals, truncated to the written micro-dollars. */
export interface ComponentShare {
  readonly selected: boolean;
  readonly totalUsd: bigint;
  readonly sponsoredUsd: bigint;
}

/** What an app has agreed to pay of a request's fees. */
export interface FeeSponsorship {
  /** The wallet whose app balance pays. */
  readonly wallet: Address;
  /** The maximum that the app pays, USD with 18 decimals. Absent: what the key's rules allow. */
  readonly maxUsd?: bigint;
  readonly capHit: boolean;
  /** What the app pays, in base units of the deposit; `usd` at the quote's prices, 18 decimals. */
  readonly amount: bigint;
  readonly usd: bigint;
  /** If set, the sponsor pays as much as this rate requires at the fill instead. */
  readonly fixedRate?: FixedRate;
  readonly components: Readonly<Record<FeeComponent, ComponentShare>>;
}

/** A priced trade with sponsored fees; base units of the deposit. */
export interface SponsoredTrade {
  readonly execution: bigint;
  /** Whether the execution fee is `rent`. */
  readonly isRent: boolean;
  readonly service: bigint;
  readonly app: bigint;
  /** The cost of the swap in the fill. */
  readonly swap: bigint;
  /** The part of the above that the sponsor pays. */
  readonly sponsored: bigint;
}

/** The requested sponsorship. */
export interface SponsorshipRequest {
  readonly wallet: Address;
  readonly selected: ReadonlySet<FeeComponent>;
  readonly maxUsd: bigint | undefined;
  /** `maxUsd` in base units of the deposit. */
  readonly cap: bigint | undefined;
  readonly fixedRate: FixedRate | undefined;
}

/**
 * Divides the sponsor's payment among the fees in order, each up to its amount. What a fixed rate needs
 * beyond all fees counts as swap. The written shares add up to the written sum.
 */
export function feeSponsorshipOf(
  request: SponsorshipRequest,
  { execution: cost, isRent, service, app, swap, sponsored }: SponsoredTrade,
  unit: PricedUnit,
): FeeSponsorship {
  const { wallet, maxUsd, cap, fixedRate } = request;
  // A fixed rate is paid regardless of the selected fees.
  const isSelected = (component: FeeComponent): boolean =>
    fixedRate !== undefined || request.selected.has(component);
  const [execution, rent] = isRent ? [0n, cost] : [cost, 0n];
  const totals: Record<FeeComponent, bigint> = { execution, relay: service, app, swap, rent };
  const order: readonly FeeComponent[] = ["execution", "relay", "app", "swap", "rent"];
  const paid: Record<FeeComponent, bigint> = { execution: 0n, relay: 0n, app: 0n, swap: 0n, rent: 0n };
  let remaining = sponsored;
  for (const component of order) {
    if (!isSelected(component)) continue;
    paid[component] = remaining < totals[component] ? remaining : totals[component];
    remaining -= paid[component];
  }
  if (remaining > 0n) {
    // A rounding unit, or what the fixed rate needs beyond all fees.
    const last = isSelected("swap")
      ? "swap"
      : (order.findLast((component) => component !== "rent" && isSelected(component)) ?? "swap");
    paid[last] += remaining;
    if (paid[last] > totals[last]) totals[last] = paid[last];
  }
  let sum = 0n;
  const written = (amount: bigint): bigint => toWrittenUsd(amountToUsdDown(amount, unit));
  const shareOf = (component: FeeComponent): ComponentShare => {
    const before = written(sum);
    sum += paid[component];
    const sponsoredUsd = written(sum) - before;
    const totalUsd = written(totals[component]);
    return {
      selected: isSelected(component),
      sponsoredUsd,
      totalUsd: totalUsd > sponsoredUsd ? totalUsd : sponsoredUsd,
    };
  };
  const requested = order.reduce(
    (all, component) => (isSelected(component) ? all + totals[component] : all),
    0n,
  );
  return {
    wallet,
    ...(maxUsd !== undefined && { maxUsd }),
    capHit: cap !== undefined && sponsored >= cap && requested > sponsored,
    amount: sponsored,
    usd: amountToUsdDown(sponsored, unit),
    ...(fixedRate !== undefined && { fixedRate }),
    components: {
      execution: shareOf("execution"),
      relay: shareOf("relay"),
      app: shareOf("app"),
      swap: shareOf("swap"),
      rent: shareOf("rent"),
    },
  };
}

/**
 * The part of a sponsor's payment that leaves the service: app fees, the cost of the swap, rent, and what a
 * fixed rate adds beyond the quoted sum. USD with 18 decimals, at most the payment. The rest is gas and the
 * service's own fee.
 * @param usd what the sponsor pays of the fill
 */
export function transferredUsd(
  { components: { app, swap, rent }, usd: quotedUsd }: FeeSponsorship,
  usd: bigint,
): bigint {
  const beyondQuoteUsd = usd > quotedUsd ? usd - quotedUsd : 0n;
  const transferred = app.sponsoredUsd + swap.sponsoredUsd + rent.sponsoredUsd + beyondQuoteUsd;
  return transferred < usd ? transferred : usd;
}

/** A sponsorship in API format: USD texts with six decimals. */
export interface FeeSponsorshipText {
  readonly selectedComponents: FeeComponent[];
  readonly maxSubsidizationAmount?: string;
  readonly capHit: boolean;
  readonly components: Record<
    FeeComponent,
    {
      readonly selected: boolean;
      readonly total: { readonly usd: string };
      readonly sponsored: { readonly usd: string };
      readonly userPays: { readonly usd: string };
    }
  >;
  readonly sponsoredTotal: { readonly usd: string };
  readonly userPaysTotal: { readonly usd: string };
}

/**
 * `feeSponsorship.quoted` and, with the final charge, the fees part of `feeSponsorship.actual`.
 * @param chargedUsd what the sponsor's balance paid, USD with 18 decimals; default: as quoted
 */
export function feeSponsorshipText(
  sponsorship: FeeSponsorship,
  chargedUsd = sponsorship.usd,
): FeeSponsorshipText {
  const { components, maxUsd, capHit } = sponsorship;
  const changes = changesBy(sponsorship, toWrittenUsd(chargedUsd) - toWrittenUsd(sponsorship.usd));
  const written = (component: FeeComponent): { readonly totalUsd: bigint; readonly sponsoredUsd: bigint } => {
    const { totalUsd, sponsoredUsd } = components[component];
    return { totalUsd: totalUsd + changes[component], sponsoredUsd: sponsoredUsd + changes[component] };
  };
  const share = (component: FeeComponent): FeeSponsorshipText["components"][FeeComponent] => {
    const { totalUsd, sponsoredUsd } = written(component);
    return {
      selected: components[component].selected,
      total: { usd: formatUsd(totalUsd) },
      sponsored: { usd: formatUsd(sponsoredUsd) },
      userPays: { usd: formatUsd(totalUsd - sponsoredUsd) },
    };
  };
  const sum = (part: "totalUsd" | "sponsoredUsd"): bigint =>
    feeComponents.reduce((usd, component) => usd + written(component)[part], 0n);
  return {
    selectedComponents: feeComponents.filter((component) => components[component].selected),
    ...(maxUsd !== undefined && { maxSubsidizationAmount: (maxUsd / MICRO_USD).toString() }),
    capHit,
    components: {
      execution: share("execution"),
      swap: share("swap"),
      relay: share("relay"),
      app: share("app"),
      rent: share("rent"),
    },
    sponsoredTotal: { usd: formatUsd(sum("sponsoredUsd")) },
    userPaysTotal: { usd: formatUsd(sum("totalUsd") - sum("sponsoredUsd")) },
  };
}

/** The unit of `maxSubsidizationAmount`, in USD with 18 decimals. */
export const MICRO_USD = 10n ** 12n;

/**
 * Divides the difference between charge and quote: an increase counts as swap; a decrease first reduces the
 * execution or rent (the service may not have sent the origin transaction) or, for a fixed rate, the swap.
 */
function changesBy(
  { components, fixedRate }: FeeSponsorship,
  differenceUsd: bigint,
): Record<FeeComponent, bigint> {
  const changes: Record<FeeComponent, bigint> = { execution: 0n, swap: 0n, relay: 0n, app: 0n, rent: 0n };
  if (differenceUsd > 0n) return { ...changes, swap: differenceUsd };
  let remaining = -differenceUsd;
  const first: readonly FeeComponent[] =
    fixedRate === undefined ? ["execution", "rent", "swap"] : ["swap", "execution", "rent"];
  for (const component of [...first, "relay", "app"] as const) {
    const { sponsoredUsd } = components[component];
    const reduction = remaining < sponsoredUsd ? remaining : sponsoredUsd;
    changes[component] = -reduction;
    remaining -= reduction;
  }
  return changes;
}
