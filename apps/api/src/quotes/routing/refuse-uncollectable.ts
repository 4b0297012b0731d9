import type { ErrorCode } from "@causeway/domain";
import { NATIVE_CURRENCY, ServiceError } from "@causeway/domain";
import type { QuoteInput } from "@causeway/wire";
import type { Market } from "../market.ts";
import type { PlainQuestion } from "../quote-question.ts";
import { refuseUnfixable } from "./fee-terms.ts";
import type { FeeOptions } from "./fee-options.ts";

/**
 * Checks that the fee options fit the question.
 * @throws ServiceError UNSUPPORTED_EXECUTION_TYPE for a payment that the user makes directly;
 * UNSUPPORTED_ROUTE for a fixed rate that cannot be guaranteed; INVALID_REQUEST, INVALID_RECIPIENT for a gas
 * top-up that the recipient cannot use
 */
export function refuseUncollectable(
  { market }: { readonly market: Market },
  question: PlainQuestion,
  fees: FeeOptions,
): void {
  if (question.isSend)
    throw refusal(
      "UNSUPPORTED_EXECUTION_TYPE",
      "appFees, subsidizeFees and topupGas are not supported when the user pays the recipient directly",
      fees.appFees.length > 0 ? "appFees" : fees.sponsor === undefined ? "topupGas" : "subsidizeFees",
    );
  refuseUnfixable(question, fees);
  if (fees.topupUsd !== undefined) {
    const { destination, destinationCurrency, recipient } = question;
    if (destinationCurrency.address === NATIVE_CURRENCY)
      throw refusal(
        "INVALID_REQUEST",
        "topupGas is not supported when the output is the native token",
        "topupGas",
      );
    // A contract would run code in the middle of the fill when it receives native tokens, and never pays gas
    // itself.
    if (market.hasCode(destination.chain.id, recipient))
      throw refusal(
        "INVALID_RECIPIENT",
        "topupGas is not supported when recipient is a contract",
        "topupGas",
      );
  }
}

function refusal(code: ErrorCode, message: string, field: keyof QuoteInput): ServiceError {
  return new ServiceError(code, message, { field });
}
