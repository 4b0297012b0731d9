import { ServiceError } from "@causeway/domain";
import type { QuoteInput } from "@causeway/wire";
import type { QuoteQuestion } from "../quote-question.ts";
import type { Agreement } from "../quote-terms.ts";
import { readAskedCalls } from "./asked-calls.ts";
import { checkTokens } from "./check-tokens.ts";
import type { TokenCheckServices } from "./check-tokens.ts";
import type { ValuedRoute } from "./choose-route.ts";
import { agreeCalls, priceCalls } from "./dry-run-calls.ts";
import type { DryRunServices } from "./dry-run-calls.ts";
import { dryRunExchange } from "./dry-run-exchange.ts";

/**
 * Adds what routing depends on: how the tokens behave, and the gas of the requested calls.
 * @throws ServiceError naming the field that prevents the quote; RpcFault
 */
export async function prepareQuestion(
  services: DryRunServices & TokenCheckServices,
  input: QuoteInput,
  question: QuoteQuestion,
): Promise<QuoteQuestion> {
  const calls = readAskedCalls(input, question);
  if (calls !== undefined) refuseUntraceable(question, "SERVICE_UNAVAILABLE", "txs", "txs is not available");
  const known = { ...question, tokens: await services.market.decide(() => checkTokens(services, question)) };
  if (calls === undefined) return known;
  // Only a fill by the solver can make calls; the user's own transaction cannot.
  const swaps = { ...known.swaps, bySolver: true };
  return await priceCalls(services, { ...known, swaps, calls });
}

/**
 * Dry-runs the fill where it may fail. A plain payment in a known token needs none.
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
      "No routes found with a swap in the fill",
    );
  if (calls !== undefined) return await agreeCalls(services, { ...question, calls }, valued, agreement);
  if (tokens?.isUnproven !== true || valued.route.kind !== "bridge") return agreement;
  await dryRunExchange(services, question, agreement.terms);
  return agreement;
}

/**
 * A fill with a swap or calls needs a dry run; if the node cannot do one, the deposit could only be refunded.
 * @throws ServiceError
 */
function refuseUntraceable(
  { destination: { chain, pulse } }: QuoteQuestion,
  code: "NO_SWAP_ROUTES_FOUND" | "SERVICE_UNAVAILABLE",
  field: string,
  what: string,
): void {
  if (pulse.effectsView?.() !== "unseen") return;
  const why = `the node of ${chain.displayName} cannot trace calls`;
  throw new ServiceError(code, `${what}: ${why}`, { field });
}
