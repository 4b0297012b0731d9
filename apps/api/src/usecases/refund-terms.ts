import { agreedUsd, leastDeposit, scaledMinimum, ServiceError, weightedDifference } from "@causeway/domain";
import type { Currency } from "@causeway/domain";
import type { DepositRecord, RequestRecord } from "../ports/records.ts";
import type { Services } from "../ports/services.ts";

/** A token without a price is waited for this long; ms. */
export const PRICE_WAIT_MS = 3600 * 1000;
/** A refund is kept trying for this long; money that is owed does not lapse. */
export const REFUND_CANCEL_AFTER_MS = 365 * 24 * 3600 * 1000;

/** Undefined: no source of prices knows it now. Pools are not asked: who moves one would choose what is kept back for gas. */
export async function priceOfRefund(
  { prices }: Pick<Services, "prices">,
  currency: Currency,
): Promise<bigint | undefined> {
  try {
    return await prices.usd(currency);
  } catch (error) {
    if (error instanceof ServiceError && error.code === "PRICE_FETCH_FAILED") return undefined;
    throw error;
  }
}

/**
 * What the order says comes back at least, when the deposit is one that was agreed; 0 for any other. After a swap it may be more than the order asks for: then the
 * minimum grows with it, as whoever attests the refund demands.
 */
export function promisedRefund({ terms }: RequestRecord, deposit: DepositRecord): bigint {
  const { order } = terms;
  const isAgreed = agreedUsd(terms, deposit) !== undefined && deposit.amount >= leastDeposit(terms);
  if (!isAgreed) return 0n;
  const promised = order.inputs[0]?.refunds[0]?.minimumAmount ?? 0n;
  return scaledMinimum(promised, weightedDifference(order, [deposit.amount]));
}
