import { ServiceError } from "../errors.ts";
import type { TradeType } from "../request/terms.ts";
import { forward } from "./forward.ts";
import type { ForwardQuote, PricingFacts } from "./forward.ts";
import { inputFor } from "./invert.ts";

/** A priced trade: `expected` is what the recipient is to get. */
export interface PricedTrade extends ForwardQuote {
  readonly expected: bigint;
}

/**
 * Prices `amount`: the input of an EXACT_INPUT, the wanted output of the two other trade types, for which the input is the least that yields it.
 * The output types expect exactly what was asked, although the least input may yield some smallest units more (an input has coarser steps than its output).
 * @throws ServiceError AMOUNT_TOO_LOW when the input does not cover the fees and one unit of output.
 */
export function priceTrade(tradeType: TradeType, amount: bigint, facts: PricingFacts): PricedTrade {
  if (tradeType !== "EXACT_INPUT") {
    const priced = forward(inputFor(amount, facts), facts);
    return { ...priced, expected: amount };
  }
  const priced = forward(amount, facts);
  if (priced.output > 0n) return { ...priced, expected: priced.output };
  throw new ServiceError("AMOUNT_TOO_LOW", "The amount does not cover the fees", {
    field: "amount",
    data: { amount: amount.toString(), minimumAmount: inputFor(1n, facts).toString() },
  });
}
