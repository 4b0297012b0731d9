import { BPS, bpsOfUp } from "../money/bps.ts";
import { divUp } from "../money/mul-div.ts";
import type { TradeType } from "../request/terms.ts";
import type { PricingFacts } from "./output-for-input.ts";
import { inputForOutput } from "./input-for-output.ts";
import { minimumOutput } from "./minimum-output.ts";

/** Slippage of a route in bps: `origin` up to the deposit, `destination` from there to the recipient. */
export interface SlippageBps {
  readonly origin: number;
  readonly destination: number;
}

/**
 * Divides the client's slippage between the two sides in proportion to their automatic slippage, rounded
 * toward the destination. Without a swap before the deposit the origin gets none.
 * @param clientBps undefined: the automatic slippage, at most 100 % in total
 */
export function splitSlippage(clientBps: number | undefined, automatic: SlippageBps): SlippageBps {
  const sum = automatic.origin + automatic.destination;
  if (clientBps === undefined)
    return sum <= 10_000
      ? automatic
      : {
          origin: Math.min(automatic.origin, 10_000),
          destination: 10_000 - Math.min(automatic.origin, 10_000),
        };
  const origin = sum === 0 ? 0 : Math.floor((clientBps * automatic.origin) / sum);
  return { origin, destination: clientBps - origin };
}

/** The facts that a guarantee depends on. */
export interface GuaranteeFacts {
  readonly tradeType: TradeType;
  /** The recipient's expected output. */
  readonly expected: bigint;
  /** The expected deposit. */
  readonly deposit: bigint;
  /** What the solver pays for `deposit`: the fill, or the input of the fill's swap. */
  readonly paid: bigint;
  readonly slippage: SlippageBps;
  /** An exact output is still paid if the deposit's value is at most this far below it, bps. */
  readonly honorBps: number;
}

/** What a quote guarantees when a swap precedes the deposit. */
export interface SwapGuarantee {
  readonly minimumAmount: bigint;
  /** What the minimum deposit must still buy, before the slippage of the fill. */
  readonly neededOutput: bigint;
  /** The smallest deposit that buys `neededOutput` at quoted prices, at most the expected deposit. */
  readonly minDeposit: bigint;
}

/**
 * The guarantee of a route with a swap before its deposit. The output may fall short by both sides' slippage
 * together; the minimum deposit is the smallest that, at unchanged prices, still meets the guarantee after
 * flat fees and the slippage of the fill.
 * An exact output may not fall short: its minimum deposit is what the solver still accepts or what the
 * slippage allows, whichever is larger. Scaling the deposit with the output is safe, because pools get more
 * expensive with size.
 */
export function swapGuarantee(
  { tradeType, expected, deposit, paid, slippage, honorBps }: GuaranteeFacts,
  facts: PricingFacts,
): SwapGuarantee {
  const isExact = tradeType === "EXACT_OUTPUT";
  const minimumAmount = minimumOutput(tradeType, expected, slippage.origin + slippage.destination);
  const requiredOutput = isExact
    ? bpsOfUp(expected, Number(BPS) - honorBps)
    : slippage.destination >= 10_000
      ? 1n
      : divUp(minimumAmount * BPS, BPS - BigInt(slippage.destination));
  const neededOutput = requiredOutput < 1n ? 1n : requiredOutput < expected ? requiredOutput : expected;
  const accepted = minDepositFor(neededOutput, { expected, deposit, paid }, facts);
  const allowed = isExact ? bpsOfUp(deposit, Number(BPS) - slippage.origin) : 0n;
  return { minimumAmount, neededOutput, minDeposit: accepted > allowed ? accepted : allowed };
}

/**
 * The smallest deposit that yields the share `output` / `expected` of `paid`; between one unit and `deposit`.
 */
export function minDepositFor(
  output: bigint,
  { expected, deposit, paid }: Pick<GuaranteeFacts, "expected" | "deposit" | "paid">,
  facts: PricingFacts,
): bigint {
  if (output >= expected) return deposit;
  const smallest = inputForOutput(divUp(paid * output, expected), facts);
  return smallest < deposit ? smallest : deposit;
}
