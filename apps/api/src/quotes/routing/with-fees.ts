import type { ErrorCode } from "@causeway/domain";
import { NATIVE_CURRENCY, ServiceError } from "@causeway/domain";
import type { QuoteInput } from "@causeway/wire";
import type { Market } from "../market.ts";
import type { QuoteQuestion } from "../quote-question.ts";
import { refuseUnfixable } from "./agree-fees.ts";
import type { FeeOptions } from "./fee-options.ts";

/**
 * Applies the client's fee options. Fees come out of a deposit and are paid with a fill, so on one chain only
 * the solver's route remains.
 * @throws ServiceError UNSUPPORTED_EXECUTION_TYPE for a payment that the user makes directly;
 * UNSUPPORTED_ROUTE for a rate that cannot be kept; INVALID_REQUEST, INVALID_RECIPIENT for a gas top-up that
 * the recipient cannot use
 */
export function withFees(
  { market }: { readonly market: Market },
  question: QuoteQuestion,
  fees: FeeOptions,
): QuoteQuestion {
  if (question.isSend)
    throw refusal(
      "UNSUPPORTED_EXECUTION_TYPE",
      "appFees, subsidizeFees and topupGas are not supported when the user pays the recipient directly",
      fees.appFees.length > 0 ? "appFees" : fees.sponsor === undefined ? "topupGas" : "subsidizeFees",
    );
  const asked = { ...question, fees, swaps: { ...question.swaps, bySolver: true } };
  refuseUnfixable(asked);
  if (fees.topupUsd !== undefined) {
    const { destination, destinationCurrency, recipient } = question;
    if (destinationCurrency.address === NATIVE_CURRENCY)
      throw refusal(
        "INVALID_REQUEST",
        "topupGas is not supported when the output is the native token",
        "topupGas",
      );
    // A contract runs code when it receives native tokens, in the middle of the fill, and pays no gas of its
    // own.
    if (market.hasCode(destination.chain.id, recipient))
      throw refusal(
        "INVALID_RECIPIENT",
        "topupGas is not supported when recipient is a contract",
        "topupGas",
      );
  }
  return asked;
}

function refusal(code: ErrorCode, message: string, field: keyof QuoteInput): ServiceError {
  return new ServiceError(code, message, { field });
}
