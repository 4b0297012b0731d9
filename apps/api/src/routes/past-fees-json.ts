import { feeSponsorshipText, formatUsd } from "@causeway/domain";
import type { PastRequestJson } from "@causeway/wire";
import type { PastAppFees, PastRequest } from "../ports/request-history-routes.ts";
import { amountJson } from "./past-amount-json.ts";

type Data = PastRequestJson["data"];
type Fees = NonNullable<Data["fees"]["actual"]>;
type PaidAppFees = NonNullable<Data["appFees"]>["quoted"];

/**
 * Who took and who paid fees of a past request. Whose app balances those are is told to the app alone: they lead to all that it takes and pays.
 * @param withKey the asker is that app
 */
export function pastFeesJson(
  past: PastRequest,
  withKey: boolean,
): Pick<Data, "appFees" | "fees" | "feeSponsorship"> {
  return {
    appFees: past.appFees === undefined ? null : appFeesJson(past.appFees, withKey),
    fees: { quoted: quotedFees(past), actual: actualFees(past), currency: null },
    feeSponsorship: sponsorshipJson(past, withKey),
  };
}

function appFeesJson(
  { quoted, actual, recipients }: PastAppFees,
  withKey: boolean,
): NonNullable<Data["appFees"]> {
  const told = (sum: typeof quoted, part: "quoted" | "actual"): PaidAppFees => {
    const { amountFormatted, amountUsd } = amountJson(sum);
    return {
      amount: String(sum.amount ?? 0n),
      amountFormatted,
      amountUsd,
      recipients: recipients.map((one) => ({
        recipient: withKey ? one.recipient : null,
        bps: one.bps,
        amount: String(one[part] ?? 0n),
      })),
    };
  };
  return {
    quoted: told(quoted, "quoted"),
    actual: actual === undefined ? null : told(actual, "actual"),
    currency: amountJson(quoted).currency,
  };
}

function quotedFees({ appFees, terms: { sponsorship } }: PastRequest): Fees | null {
  return feesOf({ app: appFees?.quoted.amount, sponsoredUsd: sponsorship?.usd });
}

function actualFees({ appFees, paidFees, sponsored, fillFeeWei }: PastRequest): Fees | null {
  const paid = [paidFees?.usd, sponsored?.paidUsd].filter((usd) => usd !== undefined);
  return feesOf({
    execution: fillFeeWei,
    app: appFees?.actual?.amount,
    sponsoredUsd: paid.length === 0 ? undefined : paid.reduce((sum, usd) => sum + usd, 0n),
  });
}

/** Null when nothing of it is known. */
function feesOf({
  execution,
  app,
  sponsoredUsd,
}: {
  readonly execution?: bigint | undefined;
  readonly app: bigint | undefined;
  readonly sponsoredUsd: bigint | undefined;
}): Fees | null {
  if (execution === undefined && app === undefined && sponsoredUsd === undefined) return null;
  return {
    swap: null,
    execution: execution === undefined ? null : String(execution),
    platform: null,
    app: app === undefined ? null : String(app),
    sponsored: sponsoredUsd === undefined ? null : formatUsd(sponsoredUsd),
  };
}

function sponsorshipJson(
  { terms, paidFees, sponsored }: PastRequest,
  withKey: boolean,
): Data["feeSponsorship"] {
  const { sponsorship } = terms;
  if (sponsorship === undefined && sponsored === undefined) return null;
  const payments = paidFees?.parts.map(({ amount, currency, chainId }) => ({
    amount: String(amount),
    address: currency,
    chainId,
  }));
  return {
    quoted: sponsorship === undefined ? null : feeSponsorshipText(sponsorship),
    actual:
      sponsorship === undefined || paidFees === undefined || payments === undefined
        ? null
        : {
            ...feeSponsorshipText(sponsorship, paidFees.usd),
            sponsorPayment: (payments.length === 1 ? payments[0] : undefined) ?? null,
            sponsorPayments: payments,
          },
    wallet: (withKey ? (sponsorship?.wallet ?? sponsored?.wallet) : undefined) ?? null,
    costUsd: sponsored === undefined ? null : formatUsd(sponsored.costUsd),
    paidUsd: sponsored?.paidUsd === undefined ? null : formatUsd(sponsored.paidUsd),
  };
}
