import { BPS } from "../money/bps.ts";
import { mulDivDown } from "../money/mul-div.ts";
import type { RequestTerms } from "../request/terms.ts";

/** What to do with a matching deposit at fill time. */
export type Payout =
  | { readonly kind: "pay"; readonly amount: bigint }
  | { readonly kind: "refund"; readonly reason: "SLIPPAGE" | "TTL_EXPIRED" };

/** The two moments that matter, ms since epoch. */
export interface PayoutTimes {
  readonly nowMs: number;
  /**
   * When the deposit was first seen in a block: what came in time is served in time, however many
   * confirmations it then waits for.
   */
  readonly depositSeenAtMs: number;
}

/** What came, and what it buys. */
export interface PricedDeposit {
  /** Smallest units of the deposit's currency. */
  readonly deposited: bigint;
  /** The forward output of all of it at live prices, smallest units of the output. */
  readonly repriced: bigint;
}

/** The terms that decide what is paid. */
export type PromiseTerms = Pick<
  RequestTerms,
  "origin" | "destination" | "surplusToSolver" | "firmUntilMs" | "fillDeadlineMs"
>;

/**
 * What to pay now. For a deposit that came while the quote was firm the expected amount is paid as long as
 * that costs the solver at most `honourBps`; what exceeds the quoted deposit was promised no price, so that a
 * small quote is no firm quote for any size. Else what the deposit buys now, never more than expected. A
 * promise that leaves no other choice (its minimum is what was expected) is kept within `honourBps` whenever
 * the deposit came. Below the promised minimum, or when it buys nothing at all, the deposit goes back. What
 * is expected follows the deposit: see {@link expectedFor}.
 */
export function payout(
  terms: PromiseTerms,
  { deposited, repriced }: PricedDeposit,
  honourBps: number,
  { nowMs, depositSeenAtMs }: PayoutTimes,
): Payout {
  if (nowMs > terms.fillDeadlineMs) return { kind: "refund", reason: "TTL_EXPIRED" };
  const { expectedAmount, minimumAmount } = terms.destination;
  const expected = expectedFor(terms, deposited);
  const isBearable = (amount: bigint) => repriced * BPS >= amount * (BPS - BigInt(honourBps));
  const isFirm = depositSeenAtMs <= terms.firmUntilMs;
  if (repriced >= expected) return { kind: "pay", amount: expected };
  const firm = deposited > terms.origin.amount ? expectedFor(terms, terms.origin.amount) : expected;
  if (isFirm && isBearable(firm)) return { kind: "pay", amount: firm > repriced ? firm : repriced };
  if (repriced >= minimumAmount && repriced > 0n) return { kind: "pay", amount: repriced };
  if (minimumAmount === expectedAmount && isBearable(minimumAmount))
    return { kind: "pay", amount: minimumAmount };
  return { kind: "refund", reason: "SLIPPAGE" };
}

/**
 * What the quote promised for a deposit of this size. A swap before the deposit may bring more or less than
 * was quoted: the expected output grows and falls with it in proportion, rounded down, and never below the
 * promised minimum, which no deposit that is filled changes. More than expected is the solver's only where
 * the client asked for it.
 */
export function expectedFor(
  {
    origin,
    destination: { expectedAmount, minimumAmount },
    surplusToSolver,
  }: Pick<RequestTerms, "origin" | "destination" | "surplusToSolver">,
  deposited: bigint,
): bigint {
  if (origin.minimumAmount === undefined || deposited === origin.amount) return expectedAmount;
  if (deposited > origin.amount && surplusToSolver === true) return expectedAmount;
  const scaled = mulDivDown(expectedAmount, deposited, origin.amount);
  return scaled > minimumAmount ? scaled : minimumAmount;
}
