import { BPS } from "../money/bps.ts";
import type { RequestTerms } from "../request/terms.ts";

/** What to do with a matching deposit at fill time. */
export type Payout =
  | { readonly kind: "pay"; readonly amount: bigint }
  | { readonly kind: "refund"; readonly reason: "SLIPPAGE" | "TTL_EXPIRED" };

/** The two moments that matter, ms since epoch. */
export interface PayoutTimes {
  readonly nowMs: number;
  /** When the deposit was first seen in a block: what came in time is served in time, however many confirmations it then waits for. */
  readonly depositSeenAtMs: number;
}

/**
 * What to pay now. `repriced` is the forward output of the deposited amount at live prices. For a deposit that came while the quote was firm the expected amount is paid
 * as long as that costs the solver at most `honourBps`, and so it is, whenever it came, for a promise that leaves no other choice (its minimum is what was expected).
 * Else what the deposit buys now, never more than expected; below the promised minimum, or when it buys nothing at all, the deposit goes back.
 */
export function payout(
  terms: Pick<RequestTerms, "destination" | "firmUntilMs" | "fillDeadlineMs">,
  repriced: bigint,
  honourBps: number,
  { nowMs, depositSeenAtMs }: PayoutTimes,
): Payout {
  if (nowMs > terms.fillDeadlineMs) return { kind: "refund", reason: "TTL_EXPIRED" };
  const { expectedAmount, minimumAmount } = terms.destination;
  const isBound = depositSeenAtMs <= terms.firmUntilMs || minimumAmount === expectedAmount;
  const isBearable = repriced * BPS >= expectedAmount * (BPS - BigInt(honourBps));
  if ((isBound && isBearable) || repriced >= expectedAmount) return { kind: "pay", amount: expectedAmount };
  return repriced >= minimumAmount && repriced > 0n
    ? { kind: "pay", amount: repriced }
    : { kind: "refund", reason: "SLIPPAGE" };
}
