import { ServiceError } from "../errors.ts";
import type { TradeType } from "../request/terms.ts";
import { priceInput } from "./output-for-input.ts";
import type { PricedInput, PricingFacts } from "./output-for-input.ts";
import { inputForOutput } from "./input-for-output.ts";
import { formatAmount } from "../money/decimal-text.ts";

/** A priced trade; `expected` is what the recipient should get. */
export interface PricedTrade extends PricedInput {
  readonly expected: bigint;
}

/**
 * Prices `amount`: the input of an EXACT_INPUT, or the output of the two other trade types, which get the
 * smallest sufficient input. That input may yield a few units more than requested, because one unit of input
 * can buy several of output; `expected` stays the requested amount.
 * @throws ServiceError AMOUNT_TOO_LOW if the input does not cover the fees and one unit of output
 */
export function priceTrade(
  tradeType: TradeType,
  amount: bigint,
  facts: PricingFacts,
  symbol: string,
): PricedTrade {
  if (tradeType !== "EXACT_INPUT") {
    const priced = priceInput(inputForOutput(amount, facts), facts);
    return { ...priced, expected: amount };
  }
  const priced = priceInput(amount, facts);
  if (priced.output > 0n) return { ...priced, expected: priced.output };
  throw amountBelowFees(amount, inputForOutput(1n, facts), { decimals: facts.origin.decimals, symbol });
}

/** @param minimum the input that would cover the fees; undefined if no swap can compute it */
export function amountBelowFees(
  amount: bigint,
  minimum: bigint | undefined,
  { decimals, symbol }: { readonly decimals: number; readonly symbol: string },
): ServiceError {
  const message =
    minimum === undefined
      ? `amount must cover the fees, got ${amount}; raise it`
      : `amount must be at least ${minimum} (${formatAmount(minimum, decimals)} ${symbol}) to cover the fees, got ${amount}`;
  return new ServiceError("AMOUNT_TOO_LOW", message, {
    field: "amount",
    data: {
      amount: amount.toString(),
      ...(minimum !== undefined && { minimumAmount: minimum.toString() }),
    },
  });
}
