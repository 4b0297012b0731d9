import type { ErrorCode, Soon } from "@causeway/domain";
import { NATIVE_CURRENCY, ServiceError, soon } from "@causeway/domain";
import type { QuoteInput } from "@causeway/wire";
import type { RecipientCodes } from "../../chains/recipient-codes.port.ts";
import type { QuoteQuestion } from "../quote-question.ts";
import { refuseUnfixable } from "./agree-fees.ts";
import type { FeeWishes } from "./fee-wishes.ts";

/**
 * The same question with what its client says about fees. Fees are taken of a deposit, and paid with a fill:
 * on one chain the solver's way is gone, not the user's own.
 * @throws ServiceError UNSUPPORTED_EXECUTION_TYPE for a payment that the user makes himself, of which nothing
 * could be collected; UNSUPPORTED_ROUTE for a rate that nobody keeps; INVALID_REQUEST, INVALID_RECIPIENT for
 * coin for gas that nobody needs
 */
export function* withFees(
  { recipientCodes }: { readonly recipientCodes: RecipientCodes },
  question: QuoteQuestion,
  fees: FeeWishes,
): Soon<QuoteQuestion> {
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
    // Whoever has code gets coin by running it, in the middle of the fill, and pays no gas of his own.
    if (yield* soon(recipientCodes.hasCode(destination.chain.id, recipient)))
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
