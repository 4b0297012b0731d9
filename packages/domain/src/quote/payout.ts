import { BPS } from "../money/bps.ts";
import { mulDivDown } from "../money/mul-div.ts";
import type { RequestTerms } from "../request/terms.ts";
import { isFirmAt } from "./firm-until.ts";

/** What to do with a matching deposit at fill time. */
export type Payout =
  | { readonly kind: "pay"; readonly amount: bigint }
  | { readonly kind: "refund"; readonly reason: "SLIPPAGE" | "TTL_EXPIRED" };

/** The two times that matter, ms since epoch. */
export interface PayoutTimes {
  readonly nowMs: number;
  /**
   * When the deposit was first seen in a block: a deposit in time stays in time, regardless of how many
   * confirmations it then waits for.
   */
  readonly depositSeenAtMs: number;
}

/** The deposit and what it buys. */
export interface PricedDeposit {
  /** Base units of the deposit's currency. */
  readonly deposited: bigint;
  /** The forward output of all of it at current prices, base units of the output. */
  readonly repriced: bigint;
}

/** The terms that decide what is paid. */
export type GuaranteeTerms = Pick<
  RequestTerms,
  "origin" | "destination" | "surplusToSolver" | "firmUntilMs" | "fillDeadlineMs"
>;

/**
 * What to pay now. A deposit that came while the quote was firm gets the expected amount if that costs the
 * solver at most `honorBps`; the excess over the quoted deposit has no guaranteed price, so that a small
 * quote is not firm for any size. Otherwise it gets what it buys now, at most the expected amount.
 * A quote whose minimum is the expected amount is kept within `honorBps` even after the firm time. Below the
 * minimum, or if it buys nothing, the deposit is refunded. The expected amount follows the deposit: see
 * {@link expectedFor}.
 */
export function payout(
  terms: GuaranteeTerms,
  { deposited, repriced }: PricedDeposit,
  honorBps: number,
  { nowMs, depositSeenAtMs }: PayoutTimes,
): Payout {
  if (nowMs > terms.fillDeadlineMs) return { kind: "refund", reason: "TTL_EXPIRED" };
  const { expectedAmount, minimumAmount } = terms.destination;
  const expected = expectedFor(terms, deposited);
  const isBearable = (amount: bigint) => repriced * BPS >= amount * (BPS - BigInt(honorBps));
  const isFirm = isFirmAt(terms, depositSeenAtMs);
  if (repriced >= expected) return { kind: "pay", amount: expected };
  const firm = deposited > terms.origin.amount ? expectedFor(terms, terms.origin.amount) : expected;
  if (isFirm && isBearable(firm)) return { kind: "pay", amount: firm > repriced ? firm : repriced };
  if (repriced >= minimumAmount && repriced > 0n) return { kind: "pay", amount: repriced };
  if (minimumAmount === expectedAmount && isBearable(minimumAmount))
    return { kind: "pay", amount: minimumAmount };
  return { kind: "refund", reason: "SLIPPAGE" };
}

/**
 * The expected output for a deposit of this size. A swap before the deposit may yield more or less than
 * quoted: the expected output scales with it, rounded down, but never falls below the minimum. The solver
 * keeps a surplus only if the client requested that.
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
