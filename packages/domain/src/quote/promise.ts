import { BPS, bpsOfUp } from "../money/bps.ts";
import { divUp } from "../money/mul-div.ts";
import type { TradeType } from "../request/terms.ts";
import type { PricingFacts } from "./forward.ts";
import { inputFor } from "./invert.ts";
import { minimumOutput } from "./minimum-amount.ts";

/**
 * How far a route may fall short, bps: `origin` until the deposit, `destination` from there to the recipient.
 */
export interface SlippageBps {
  readonly origin: number;
  readonly destination: number;
}

/**
 * Divides the slippage that a client allows between the two sides, in proportion to what each would be given
 * without a word from him, rounded towards the destination. Without an exchange before the deposit nothing
 * can slip there. Undefined: chosen by the service, at most everything.
 */
export function splitSlippage(askedBps: number | undefined, automatic: SlippageBps): SlippageBps {
  const sum = automatic.origin + automatic.destination;
  if (askedBps === undefined)
    return sum <= 10_000
      ? automatic
      : {
          origin: Math.min(automatic.origin, 10_000),
          destination: 10_000 - Math.min(automatic.origin, 10_000),
        };
  const origin = sum === 0 ? 0 : Math.floor((askedBps * automatic.origin) / sum);
  return { origin, destination: askedBps - origin };
}

/** What a promise is made of. */
export interface PromiseFacts {
  readonly tradeType: TradeType;
  /** What the recipient is to get. */
  readonly expected: bigint;
  /** What is to be deposited, and what of it the solver pays with. */
  readonly deposit: bigint;
  readonly paid: bigint;
  readonly slippage: SlippageBps;
  /** How far what a deposit buys may lie below an exact output that is paid all the same, bps. */
  readonly honourBps: number;
}

/** What a quote promises when a swap comes before the deposit. */
export interface SwappedPromise {
  readonly minimumAmount: bigint;
  /** What the least deposit must still buy, before what may slip after it. */
  readonly neededOutput: bigint;
  /** The least deposit that buys it as far as pricing alone tells, at most the one that is expected. */
  readonly minDeposit: bigint;
}

/**
 * The promise of a route with a swap before its deposit. The output may fall short by both sides' slippage
 * together; the least deposit is the least from which, at unchanged prices, the promise can still be kept
 * after what may slip behind it, flat fees included. An exact output may not fall short at all: its least
 * deposit is the least from which it is still borne, or the one that the slippage allows, whichever is more.
 * A fill's exchange gives of a part of its input at least that part of its output, because pools get dearer
 * with size: so the deposit is scaled with the output.
 */
export function swappedPromise(
  { tradeType, expected, deposit, paid, slippage, honourBps }: PromiseFacts,
  facts: PricingFacts,
): SwappedPromise {
  const isExact = tradeType === "EXACT_OUTPUT";
  const minimumAmount = minimumOutput(tradeType, expected, slippage.origin + slippage.destination);
  const wanted = isExact
    ? bpsOfUp(expected, Number(BPS) - honourBps)
    : slippage.destination >= 10_000
      ? 1n
      : divUp(minimumAmount * BPS, BPS - BigInt(slippage.destination));
  const neededOutput = wanted < 1n ? 1n : wanted < expected ? wanted : expected;
  const borne = minDepositFor(neededOutput, { expected, deposit, paid }, facts);
  const allowed = isExact ? bpsOfUp(deposit, Number(BPS) - slippage.origin) : 0n;
  return { minimumAmount, neededOutput, minDeposit: borne > allowed ? borne : allowed };
}

/**
 * The least deposit whose pricing gives that part of `paid` which `output` is of `expected`; never more than
 * `deposit`, never nothing.
 */
export function minDepositFor(
  output: bigint,
  { expected, deposit, paid }: Pick<PromiseFacts, "expected" | "deposit" | "paid">,
  facts: PricingFacts,
): bigint {
  if (output >= expected) return deposit;
  const least = inputFor(divUp(paid * output, expected), facts);
  return least < deposit ? least : deposit;
}
