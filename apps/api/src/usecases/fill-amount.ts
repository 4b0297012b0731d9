import { forward, payout, usdToAmountDown } from "@causeway/domain";
import type { PayoutTimes, RequestTerms } from "@causeway/domain";
import type { RequestRecord } from "../ports/records.ts";
import type { Services } from "../ports/services.ts";
import type { FillBasis } from "./fill-basis.ts";
import { pricingOf } from "./quote-pricing.ts";
import type { Route, RoutePricing } from "./quote-pricing.ts";

type Needs = Pick<Services, "clock" | "chains" | "prices" | "quotePolicy" | "reads">;

/**
 * What a request's recipient is to get now: what its deposit is worth by the promise of the quote, or what was promised when an app vouched.
 * @throws ServiceError PRICE_FETCH_FAILED, RPC_HTTP_ERROR: nothing is known, ask again
 */
export async function amountToPay(
  services: Needs,
  { terms }: RequestRecord,
  basis: FillBasis,
  route: Omit<Route, "originCurrency">,
  toContract: boolean,
): Promise<ReturnType<typeof payout>> {
  const nowMs = services.clock.nowMs();
  if (nowMs > terms.fillDeadlineMs) return { kind: "refund", reason: "TTL_EXPIRED" };
  if (basis.kind === "front") {
    const { amount } = basis.promised;
    if (amount < terms.destination.minimumAmount) return { kind: "refund", reason: "SLIPPAGE" };
    return { kind: "pay", amount };
  }
  const originCurrency = services.chains.currency(terms.origin.chainId, terms.origin.currency);
  if (originCurrency === undefined)
    throw new Error(`the currency that ${terms.requestId} was paid in is not configured any more`);
  const pricing = await pricingOf(services, { ...route, originCurrency }, toContract, terms.originGasUsd);
  const due = payoutOf(services, terms, basis.deposit.amount, pricing, {
    nowMs,
    depositSeenAtMs: basis.deposit.seenAtMs,
  });
  if (due.kind === "refund") return due;
  return { kind: "pay", amount: due.amount + (await notSpentOnOrigin(services, terms, pricing)) };
}

/**
 * What the output was to pay for the origin transaction and did not have to, because an app paid for it or the user sent it himself: his, smallest units of the output. An exact output
 * stays exact.
 */
async function notSpentOnOrigin(
  { reads }: Pick<Services, "reads">,
  { requestId, originGasUsd, tradeType }: RequestTerms,
  { facts }: RoutePricing,
): Promise<bigint> {
  if (originGasUsd === undefined || tradeType === "EXACT_OUTPUT") return 0n;
  const execution = await reads.execution(requestId);
  const isSpent = execution !== undefined && execution.wallet === undefined;
  return isSpent ? 0n : usdToAmountDown(originGasUsd, facts.destination);
}

/** What an input that came at that time buys, by the promise of the quote and at these prices. */
export function payoutOf(
  { quotePolicy }: Pick<Services, "quotePolicy">,
  terms: RequestTerms,
  input: bigint,
  { facts, pairClass }: RoutePricing,
  times: PayoutTimes,
): ReturnType<typeof payout> {
  const { honourBps, serviceBps } = quotePolicy;
  // Between two assets a firm price is an option against the solver: it is worth no more than what was charged for it.
  const isOneAsset = pairClass === "sameAsset" || pairClass === "wrap";
  return payout(
    terms,
    { deposited: input, repriced: forward(input, facts).output },
    isOneAsset ? honourBps : Math.min(honourBps, serviceBps[pairClass]),
    times,
  );
}
