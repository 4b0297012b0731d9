import type { SettingValues } from "@causeway/config";
import { setting } from "@causeway/config";
import type { FeePolicy, PairClass } from "@causeway/domain";
import { defaultFeePolicy } from "@causeway/domain";
import type { priceSettings } from "./prices.ts";

const { integer } = setting;

const fees = defaultFeePolicy;
const DAY_SECONDS = 86_400;

const bps = (name: string, defaultBps: number, describe: string) =>
  integer({ name, min: 0, max: 10_000, default: defaultBps, describe });
const lifetime = (name: string, describe: string) =>
  integer({ name, min: 60, max: 30 * DAY_SECONDS, default: fees.orderLifetimeSeconds, describe });

/** Pair classes as the documentation describes them. */
const pairs = {
  sameAsset: "the same asset on two chains",
  wrap: "two forms of one asset, for example ETH and WETH",
  stable: "two stablecoins",
  major: "a pair with a major asset and no minor one",
  minor: "a pair with a minor asset",
} as const satisfies Record<PairClass, string>;

const serviceFee = (name: string, pair: PairClass) =>
  bps(name, fees.serviceBps[pair], `Service fee for ${pairs[pair]}, as a share of the input.`);
const slippage = (name: string, pair: PairClass) =>
  bps(name, fees.automaticSlippageBps[pair], `Slippage for ${pairs[pair]}, unless the request sets one.`);

export const quoteSettings = {
  sameAssetFeeBps: serviceFee("FEE_SAME_ASSET_BPS", "sameAsset"),
  wrapFeeBps: serviceFee("FEE_WRAP_BPS", "wrap"),
  stableFeeBps: serviceFee("FEE_STABLE_BPS", "stable"),
  majorFeeBps: serviceFee("FEE_MAJOR_BPS", "major"),
  minorFeeBps: serviceFee("FEE_MINOR_BPS", "minor"),
  sameAssetSlippageBps: slippage("SLIPPAGE_SAME_ASSET_BPS", "sameAsset"),
  wrapSlippageBps: slippage("SLIPPAGE_WRAP_BPS", "wrap"),
  stableSlippageBps: slippage("SLIPPAGE_STABLE_BPS", "stable"),
  majorSlippageBps: slippage("SLIPPAGE_MAJOR_BPS", "major"),
  minorSlippageBps: slippage("SLIPPAGE_MINOR_BPS", "minor"),
  firmSeconds: integer({
    name: "QUOTE_FIRM_SECONDS",
    min: 0,
    max: 3600,
    default: fees.firmSeconds,
    describe:
      "How long after the quote its output is firm: it is paid even if prices move, within `QUOTE_HONOUR_BPS`.",
  }),
  maxSwapImpactBps: bps(
    "QUOTE_MAX_SWAP_IMPACT_BPS",
    fees.maxSwapImpactBps,
    "Maximum cost of a quote's swaps, as a share of the input value. Above it, quotes return `SWAP_IMPACT_TOO_HIGH`, unless the request sets `overridePriceImpact`.",
  ),
  honorBps: bps(
    "QUOTE_HONOUR_BPS",
    fees.honorBps,
    "How far the price of a firm quote may move against the solver. If the repriced output is lower than the quoted one by more than this, the repriced output is paid; otherwise, the quoted one. Limits the solver's loss from a price jump. Between two assets, it is capped at the service fee of their pair.",
  ),
  orderLifetimeSeconds: lifetime(
    "ORDER_LIFETIME_SECONDS",
    "How long an order can be filled, unless the request sets a `ttl`. After that, its deposit is refunded.",
  ),
  maxTtlSeconds: lifetime("QUOTE_MAX_TTL_SECONDS", "Maximum `ttl` of a request."),
  refundGasMarginBps: integer({
    name: "REFUND_GAS_MARGIN_BPS",
    min: 0,
    max: 100_000,
    default: fees.refundGasMarginBps,
    describe:
      "Margin on the current gas price when a quote estimates the cost of a refund, because the refund may be sent days later.",
  }),
};

/** Deadlines of orders. The refund deadline is part of what the user agrees to. */
export const fixedQuotePolicy = {
  /** How long an order stays valid after its fill deadline, so that a late fill is still mined in time. */
  fillGraceSeconds: fees.fillGraceSeconds,
  /** How long after an order's deadline its refund can still be paid. */
  refundGraceSeconds: fees.refundGraceSeconds,
};

export function feePolicy(
  quote: SettingValues<typeof quoteSettings>,
  { priceVolatileMaxAgeMs }: SettingValues<typeof priceSettings>,
): FeePolicy {
  return {
    serviceBps: {
      sameAsset: quote.sameAssetFeeBps,
      wrap: quote.wrapFeeBps,
      stable: quote.stableFeeBps,
      major: quote.majorFeeBps,
      minor: quote.minorFeeBps,
    },
    automaticSlippageBps: {
      sameAsset: quote.sameAssetSlippageBps,
      wrap: quote.wrapSlippageBps,
      stable: quote.stableSlippageBps,
      major: quote.majorSlippageBps,
      minor: quote.minorSlippageBps,
    },
    firmSeconds: quote.firmSeconds,
    maxSwapImpactBps: quote.maxSwapImpactBps,
    honorBps: quote.honorBps,
    orderLifetimeSeconds: quote.orderLifetimeSeconds,
    refundGasMarginBps: quote.refundGasMarginBps,
    maxVolatilePriceAgeMs: priceVolatileMaxAgeMs,
    ...fixedQuotePolicy,
  };
}

export function quoteProblems({
  maxTtlSeconds,
  orderLifetimeSeconds,
}: Partial<SettingValues<typeof quoteSettings>>): readonly string[] {
  return maxTtlSeconds !== undefined &&
    orderLifetimeSeconds !== undefined &&
    maxTtlSeconds < orderLifetimeSeconds
    ? ["QUOTE_MAX_TTL_SECONDS must be at least ORDER_LIFETIME_SECONDS"]
    : [];
}
