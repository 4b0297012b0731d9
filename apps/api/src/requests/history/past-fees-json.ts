import { feeSponsorshipText, formatUsd } from "@causeway/domain";
import type { FeeSponsorshipText, QuotedFee, QuotedFees } from "@causeway/domain";
import type { PastRequestJson, PastRequestV2Json } from "@causeway/wire";
import type { PastAmount, PastAppFees, PastRequest } from "./past-requests.port.ts";
import type { AddressFormat } from "../../chains/address-format.port.ts";
import { currencyJson, formatWholeUnits } from "./past-amount-json.ts";

type Data = PastRequestJson["data"];
type DataV2 = PastRequestV2Json["data"];
type Fees = NonNullable<Data["fees"]>;
type NamedFee = NonNullable<NonNullable<Fees["quoted"]>["app"]>;
type AppFee = DataV2["appFees"][number];
type Share = NonNullable<NonNullable<Data["feeSponsorship"]>["quoted"]>["components"]["execution"];

/**
 * The app balances that receive and pay fees are shown to their own app only: they lead to all of its revenue
 * and costs.
 */
interface FeeVisibility {
  /** The caller is that app, and asked for its data. */
  readonly showsAppData: boolean;
}

/** The recipients and payers of a past request's fees. */
export function pastFeesJson(
  past: PastRequest,
  visibility: FeeVisibility,
  format: AddressFormat,
): Pick<Data, "appFees" | "fees" | "feeSponsorship"> {
  const { appFees } = past;
  const sponsorship = sponsorshipJson(past, visibility, "platform");
  return {
    ...(appFees && {
      appFees: {
        quoted: appFeesJson(appFees, "quoted", visibility),
        ...(appFees.actual && { actual: appFeesJson(appFees, "actual", visibility) }),
        currency: currencyJson(appFees.quoted, format),
      },
    }),
    fees: feesJson(past, format),
    feeSponsorship: (sponsorship as Data["feeSponsorship"] | undefined) ?? null,
  };
}

/** The same in the form of the older lists. */
export function pastFeesV2Json(
  past: PastRequest,
  visibility: FeeVisibility,
  format: AddressFormat,
): Pick<
  DataV2,
  | "appFees"
  | "paidAppFees"
  | "appFeeCurrencyObject"
  | "fees"
  | "feesUsd"
  | "feeCurrency"
  | "feeCurrencyObject"
  | "feeSponsorship"
  | "expandedPriceImpact"
  | "subsidizedRequest"
> {
  const { appFees, terms, sponsored } = past;
  const deposited = depositedCurrency(past);
  const fees = terms.quoted?.fees;
  const sponsorship = sponsorshipJson(past, visibility, "relay");
  return {
    appFees: appFees === undefined ? [] : appFeesJson(appFees, "quoted", visibility),
    paidAppFees: appFees?.actual === undefined ? [] : appFeesJson(appFees, "actual", visibility),
    ...(appFees && { appFeeCurrencyObject: currencyJson(appFees.quoted, format) }),
    fees: olderFees(fees, ({ amount }) => amount),
    feesUsd: olderFees(fees, ({ usd }) => microUsd(usd)),
    ...(deposited.configured && { feeCurrency: deposited.configured.id }),
    feeCurrencyObject: currencyJson(deposited, format),
    ...(sponsorship && { feeSponsorship: sponsorship }),
    expandedPriceImpact: fees === undefined ? null : { quoted: impactsJson(fees) },
    subsidizedRequest: terms.sponsorship !== undefined || sponsored !== undefined,
  };
}

function appFeesJson(
  { quoted, recipients }: PastAppFees,
  part: "quoted" | "actual",
  { showsAppData }: FeeVisibility,
): AppFee[] {
  const total = quoted.amount ?? 0n;
  return recipients.map((fee) => {
    const amount = fee[part] ?? 0n;
    return {
      ...(showsAppData && { recipient: fee.recipient }),
      bps: String(fee.bps),
      amount: String(amount),
      ...formatWholeUnits(quoted, amount),
      ...(quoted.usd !== undefined && total > 0n && { amountUsd: formatUsd((quoted.usd * amount) / total) }),
    };
  });
}

/** The deposited amount: quotes state their fees in its currency. */
function depositedCurrency({ quoted }: PastRequest): Pick<PastAmount, "chainId" | "currency" | "configured"> {
  const { output, input } = quoted.origin;
  const deposited = output ?? input;
  if (deposited === undefined) throw new Error("invariant violated: request without a deposited currency");
  return deposited;
}

function feesJson(past: PastRequest, format: AddressFormat): Fees | null {
  const { terms, paidFees, sponsored } = past;
  const fees = terms.quoted?.fees;
  const paid = [paidFees?.usd, sponsored?.paidUsd].filter((usd) => usd !== undefined);
  if (fees === undefined && paid.length === 0) return null;
  const deposited = depositedCurrency(past);
  const namedFee = ({ amount, usd }: QuotedFee): NamedFee => ({
    usd,
    amount,
    ...formatWholeUnits(deposited, BigInt(amount)),
  });
  return {
    ...(fees && {
      quoted: {
        swap: { usd: negate(fees.swapImpactUsd) },
        execution: namedFee(fees.execution),
        platform: namedFee(fees.service),
        ...(fees.app && { app: namedFee(fees.app) }),
        ...(fees.sponsored && { sponsored: namedFee(fees.sponsored) }),
      },
    }),
    ...(paid.length > 0 && {
      actual: { sponsored: { usd: formatUsd(paid.reduce((sum, usd) => sum + usd, 0n)) } },
    }),
    currency: currencyJson(deposited, format),
  };
}

function olderFees(fees: QuotedFees | undefined, amountOf: (fee: QuotedFee) => string): DataV2["fees"] {
  if (fees === undefined) return {};
  return { gas: amountOf(fees.execution), fixed: "0", price: amountOf(fees.service), gateway: "0" };
}

type Impacts = NonNullable<DataV2["expandedPriceImpact"]>["quoted"];

function impactsJson({ swapImpactUsd, execution, service, app, sponsored }: QuotedFees): Impacts {
  return {
    swap: { usd: swapImpactUsd },
    execution: { usd: negate(execution.usd) },
    relay: { usd: negate(service.usd) },
    app: { usd: app === undefined ? NO_USD : negate(app.usd) },
    sponsored: { usd: sponsored?.usd ?? NO_USD },
  };
}

const NO_USD = formatUsd(0n);

function negate(usd: string): string {
  if (usd.startsWith("-")) return usd.slice(1);
  return /[1-9]/.test(usd) ? `-${usd}` : usd;
}

/** USD with six decimals as an integer of millionths. */
function microUsd(usd: string): string {
  const [, sign = "", whole = "0", decimals = ""] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(usd) ?? [];
  return `${sign}${BigInt(whole + decimals.padEnd(6, "0").slice(0, 6))}`;
}

/** @param service the list's name for the service fee */
function sponsorshipJson(
  { terms, paidFees, sponsored }: PastRequest,
  { showsAppData }: FeeVisibility,
  service: "platform" | "relay",
): object | undefined {
  const { sponsorship } = terms;
  if (sponsorship === undefined && sponsored === undefined) return undefined;
  const payments = paidFees?.parts.map(({ amount, currency, chainId }) => ({
    amount: String(amount),
    address: currency,
    chainId,
  }));
  const wallet = showsAppData ? (sponsorship?.wallet ?? sponsored?.wallet) : undefined;
  return {
    ...(sponsorship && { quoted: sharesJson(feeSponsorshipText(sponsorship), service) }),
    ...(sponsorship &&
      paidFees &&
      payments && {
        actual: {
          ...sharesJson(feeSponsorshipText(sponsorship, paidFees.usd), service),
          ...(payments.length === 1 && { sponsorPayment: payments[0] }),
          sponsorPayments: payments,
        },
      }),
    ...(wallet !== undefined && { wallet }),
    ...(sponsored && { costUsd: formatUsd(sponsored.costUsd) }),
    ...(sponsored?.paidUsd !== undefined && { paidUsd: formatUsd(sponsored.paidUsd) }),
  };
}

function sharesJson(text: FeeSponsorshipText, service: "platform" | "relay"): object {
  const listName = (component: string): string => (component === "relay" ? service : component);
  const inUsd = ({ usd }: { readonly usd: string }): { readonly amountUsd: string } => ({ amountUsd: usd });
  return {
    ...text,
    selectedComponents: text.selectedComponents.map(listName),
    components: Object.fromEntries(
      Object.entries(text.components).map(([component, share]): [string, Share] => [
        listName(component),
        {
          selected: share.selected,
          total: inUsd(share.total),
          sponsored: inUsd(share.sponsored),
          userPays: inUsd(share.userPays),
        },
      ]),
    ),
    sponsoredTotal: inUsd(text.sponsoredTotal),
    userPaysTotal: inUsd(text.userPaysTotal),
  };
}
