import { ServiceError } from "@causeway/domain";
import type { QuoteQuestion } from "../quote-question.ts";
import { refuseUnfixable } from "./agree-fees.ts";
import type { FeeWishes } from "./fee-wishes.ts";

/**
 * The same question with what its client says about fees. Fees are taken of a deposit, and paid with a fill: on one chain the solver's way is gone, not the user's own.
 * @throws ServiceError UNSUPPORTED_EXECUTION_TYPE for a payment that the user makes himself, of which nothing could be collected; UNSUPPORTED_ROUTE for a rate that nobody keeps
 */
export function withFees(question: QuoteQuestion, fees: FeeWishes): QuoteQuestion {
  if (question.isSend)
    throw new ServiceError(
      "UNSUPPORTED_EXECUTION_TYPE",
      "The user pays the recipient himself: no fee can be taken of that, or paid for it",
      { field: fees.appFees.length > 0 ? "appFees" : "subsidizeFees" },
    );
  const asked = { ...question, fees, swaps: { ...question.swaps, bySolver: true } };
  refuseUnfixable(asked);
  return asked;
}
