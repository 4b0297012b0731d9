import type { QuoteQuestion } from "../quote-question.ts";
import type { Agreement } from "../quote-terms.ts";
import type { ValuedRoute } from "./choose-route.ts";
import { addCalls } from "./dry-run-calls.ts";
import type { DryRunServices } from "./dry-run-calls.ts";
import { dryRunSwap } from "./dry-run-swap.ts";
import { refuseUntraceable } from "./refuse-untraceable.ts";

/**
 * Dry-runs the fill if it may fail. A plain payment in a known token needs no dry run.
 * @throws ServiceError DESTINATION_TX_FAILED and others; RpcFault
 */
export async function dryRunFirst(
  services: DryRunServices,
  question: QuoteQuestion,
  valued: ValuedRoute,
  agreement: Agreement,
): Promise<Agreement> {
  const { calls, tokens } = question;
  const { gasTopup, destination } = agreement.terms;
  if (gasTopup !== undefined)
    refuseUntraceable(question, "SERVICE_UNAVAILABLE", "topupGas", "topupGas is not available");
  if (destination.paidFrom !== undefined)
    refuseUntraceable(
      question,
      "NO_SWAP_ROUTES_FOUND",
      "destinationCurrency",
      "No routes found: this quote needs a swap on the destination chain",
    );
  if (calls !== undefined) return await addCalls(services, { ...question, calls }, valued, agreement);
  if (!tokens.isUnproven || valued.route.kind !== "bridge") return agreement;
  await dryRunSwap(services, question, agreement.terms);
  return agreement;
}
