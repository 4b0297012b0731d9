import { BPS } from "../money/bps.ts";
import type { RequestTerms } from "../request/terms.ts";

/** What to do with a matching deposit at fill time. */
export type Payout =
  | { readonly kind: "pay"; readonly amount: bigint }
  | { readonly kind: "refund"; readonly reason: "SLIPPAGE" | "TTL_EXPIRED" };

/**
 * What to pay now. `repriced` is the forward output of the deposited amount at live prices. While the quote is firm the expected amount is paid
 * as long as that costs the solver at most `honourBps`; afterwards what the deposit buys now, never more than expected; below the promised minimum,
 * or when it buys nothing at all, the deposit goes back.
 */
export function payout(
  terms: Pick<RequestTerms, "destination" | "firmUntilMs" | "fillDeadlineMs">,
  repriced: bigint,
  honourBps: number,
  nowMs: number,
): Payout {
  if (nowMs > terms.fillDeadlineMs) return { kind: "refund", reason: "TTL_EXPIRED" };
  const { expectedAmount, minimumAmount } = terms.destination;
  const firm = nowMs <= terms.firmUntilMs && repriced * BPS >= expectedAmount * (BPS - BigInt(honourBps));
  if (firm || repriced >= expectedAmount) return { kind: "pay", amount: expectedAmount };
  return repriced >= minimumAmount && repriced > 0n
    ? { kind: "pay", amount: repriced }
    : { kind: "refund", reason: "SLIPPAGE" };
}
