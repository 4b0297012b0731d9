import { BPS } from "../money/bps.ts";
import { mulDivDown } from "../money/mul-div.ts";
import type { RequestTerms } from "../request/terms.ts";
import { isFirmAt } from "./firm-until.ts";

/** What to do with a matching deposit at fill time. */
export type Payout =
  | { readonly kind: "pay"; readonly amount: bigint }
  | { readonly kind: "refund"; readonly reason: "SLIPPAGE" | "TTL_EXPIRED" };

/** The two times that decide a payout, ms since epoch. */
export interface PayoutTimes {
  readonly nowMs: number;
  /**
   * When the deposit was first seen in a block. Waiting for confirmations does not make a deposit late.
   */
  readonly depositSeenAtMs: number;
}

/** The deposit and its output at current prices. */
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
 * What to pay now. A deposit that arrived while the quote was firm gets the expected amount if that costs the
 * solver at most `honorBps`. Only the quoted deposit has that guarantee, not the excess over it. Otherwise
 * the deposit gets what it buys now, at most the expected amount ({@link expectedOutputFor}).
 * A quote whose minimum is the expected amount is honored within `honorBps` even after the firm time. A
 * deposit that buys less than the minimum, or nothing, is refunded.
 */
export function decidePayout(
  terms: GuaranteeTerms,
  { deposited, repriced }: PricedDeposit,
  honorBps: number,
  { nowMs, depositSeenAtMs }: PayoutTimes,
): Payout {
  if (nowMs > terms.fillDeadlineMs) return { kind: "refund", reason: "TTL_EXPIRED" };
  const { expectedAmount, minimumAmount } = terms.destination;
  const expected = expectedOutputFor(terms, deposited);
  const isHonored = (amount: bigint) => repriced * BPS >= amount * (BPS - BigInt(honorBps));
  const isFirm = isFirmAt(terms, depositSeenAtMs);
  if (repriced >= expected) return { kind: "pay", amount: expected };
  const firm = deposited > terms.origin.amount ? expectedOutputFor(terms, terms.origin.amount) : expected;
  if (isFirm && isHonored(firm)) return { kind: "pay", amount: firm > repriced ? firm : repriced };
  if (repriced >= minimumAmount && repriced > 0n) return { kind: "pay", amount: repriced };
  if (minimumAmount === expectedAmount && isHonored(minimumAmount))
    return { kind: "pay", amount: minimumAmount };
  return { kind: "refund", reason: "SLIPPAGE" };
}

/**
 * The expected output for a deposit of this size. A swap before the deposit may yield more or less than
 * quoted: the expected output scales with it, rounded down, but never falls below the minimum. The solver
 * keeps a surplus only if the client requested that.
 */
export function expectedOutputFor(
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
