import type { QuotedAppFees, ErrorCode, PricedUnit, RequestTerms } from "@causeway/domain";
import {
  quoteAppFees,
  appFeesUsd,
  feeSponsorshipOf,
  formatUsd,
  MAX_RATE_DEVIATION_BPS,
  NATIVE_CURRENCY,
  rateDeviationBps,
  ServiceError,
  swapLoss,
} from "@causeway/domain";
import type { AppBalancePolicy } from "../../balances/app-balance.port.ts";
import type { Reservations } from "../../markets/quote.port.ts";
import type { Market } from "../market.ts";
import type { QuoteQuestion } from "../quote-question.ts";
import type { BridgeRoute, ChosenRoute } from "./chosen-route.ts";
import type { FeeOptions } from "./fee-options.ts";
import { capOf } from "./fee-option-pricing.ts";

export interface FeeServices {
  readonly market: Pick<Market, "usd">;
  readonly reservations: Reservations;
  /** Undefined: this instance keeps no app balances, so quotes have no app fees. */
  readonly appBalance?: Pick<AppBalancePolicy, "chainId" | "currencies"> | undefined;
}

/** The terms of a request about fees that apps take or pay. */
export type FeeTerms = Pick<RequestTerms, "appFees" | "appFeesUsd" | "sponsorship">;

/**
 * @throws ServiceError INVALID_REQUEST for a fixed rate that costs more than the sponsor would pay;
 * PRICE_FETCH_FAILED
 */
export function fixFees(services: FeeServices, question: QuoteQuestion, route: ChosenRoute): FeeTerms {
  const { fees: options } = question;
  if (options === undefined || route.kind !== "bridge") return {};
  if (options.topupUsd !== undefined) refuseTopup(services, question, route);
  const { trade, pricing } = route;
  const { origin: unit } = pricing.facts;
  const appFees = appFeesOf(services, options, trade.priced.input, unit);
  return {
    ...(appFees !== undefined && {
      appFees,
      appFeesUsd: appFeesUsd(options.appFees, trade.priced.input, unit),
    }),
    ...(options.sponsor !== undefined && { sponsorship: sponsorshipOf(options.sponsor, question, route) }),
  };
}

/**
 * @throws ServiceError UNSUPPORTED_ROUTE, INSUFFICIENT_LIQUIDITY when a gas top-up cannot be paid with the
 * output
 */
function refuseTopup(
  { reservations }: FeeServices,
  { destination: { chain, pulse } }: QuoteQuestion,
  { trade, paidFrom, pricing: { facts } }: BridgeRoute,
): void {
  const topupRefusal = (code: ErrorCode, message: string) =>
    new ServiceError(code, message, { field: "topupGas" });
  // A swap out of the native token leaves a remainder in the router, which would mix with the top-up.
  if (trade.destination !== undefined && paidFrom.address === NATIVE_CURRENCY)
    throw topupRefusal(
      "UNSUPPORTED_ROUTE",
      "topupGas is not available when the fill swaps out of the native token",
    );
  const balance = pulse.solverBalance(chain.native.address).amount;
  const available = balance - reservations.reserved(chain.id, chain.native.address);
  if (available < (facts.topupWei ?? 0n) + facts.fillGasCostWei)
    throw topupRefusal(
      "INSUFFICIENT_LIQUIDITY",
      `Insufficient liquidity: the solver lacks ${chain.native.symbol} for topupGas on ${chain.displayName}`,
    );
}

function appFeesOf(
  { market, appBalance }: FeeServices,
  { appFees }: FeeOptions,
  input: bigint,
  deposited: PricedUnit,
): QuotedAppFees | undefined {
  const currency = appBalance?.currencies[0];
  if (appFees.length === 0 || appBalance === undefined || currency === undefined) return undefined;
  const balance = { decimals: currency.decimals, priceUsd: market.usd(currency) };
  return {
    chainId: appBalance.chainId,
    currency: currency.address,
    fees: quoteAppFees(appFees, input, deposited, balance),
  };
}

function sponsorshipOf(
  sponsor: NonNullable<FeeOptions["sponsor"]>,
  { to, destinationCurrency }: QuoteQuestion,
  { trade, pricing: { facts } }: BridgeRoute,
): NonNullable<RequestTerms["sponsorship"]> {
  const { priced } = trade;
  const { fixedRate, maxUsd } = sponsor;
  if (fixedRate !== undefined && rateDeviationBps(fixedRate, facts) > MAX_RATE_DEVIATION_BPS)
    throw badRate(
      `fixedRate must be within ${MAX_RATE_DEVIATION_BPS} bps of the market rate of the two currencies`,
    );
  const isCostRent = to.isCostRent(destinationCurrency);
  // With a fixed rate the sponsor pays every fee, including those that are not selected.
  if (fixedRate !== undefined && isCostRent && !sponsor.selected.has("rent"))
    throw badRate(
      "With fixedRate the sponsor also pays the rent of a new token account, which the recipient gets back by closing it; to accept this, add rent to sponsoredFeeComponents",
    );
  const sponsorship = feeSponsorshipOf(
    { ...sponsor, cap: capOf(sponsor, facts) },
    {
      execution: priced.execution,
      isRent: isCostRent,
      service: priced.service,
      app: priced.app,
      swap:
        trade.destination === undefined ? 0n : swapLoss(trade.destination, facts.destination, facts.origin),
      sponsored: priced.sponsored ?? 0n,
    },
    facts.origin,
  );
  if (fixedRate !== undefined && maxUsd !== undefined && sponsorship.usd > maxUsd)
    throw badRate(
      `fixedRate would cost the sponsor $${formatUsd(sponsorship.usd)}, more than maxSubsidizationAmount ($${formatUsd(maxUsd)})`,
    );
  return sponsorship;
}

function badRate(message: string): ServiceError {
  return new ServiceError("INVALID_REQUEST", message, { field: "fixedRate" });
}

/**
 * @throws ServiceError UNSUPPORTED_ROUTE for a fixed rate between currencies that are not stable or not held
 * by the solver
 */
export function refuseUnfixable(
  { originCurrency, destinationCurrency }: Pick<QuoteQuestion, "originCurrency" | "destinationCurrency">,
  { sponsor }: FeeOptions,
): void {
  if (sponsor?.fixedRate === undefined) return;
  const isFixable = [originCurrency, destinationCurrency].every(
    (currency) => currency.class === "stable" && currency.supportsBridging,
  );
  if (!isFixable)
    throw new ServiceError(
      "UNSUPPORTED_ROUTE",
      "fixedRate is only supported between stablecoins that the solver holds",
      {
        field: "fixedRate",
      },
    );
}
