import type { RequestTerms } from "@causeway/domain";
import { ServiceError } from "@causeway/domain";
import { planFillWithSwap } from "../../payments/plan-fill-with-swap.ts";
import type { QuoteQuestion } from "../quote-question.ts";
import type { DryRunServices } from "./dry-run-calls.ts";
import { failedFill } from "./failed-fill.ts";

/** What an exchange in a dry run may cost: what the solver has bounds it. */
const ANY_AMOUNT = 2n ** 255n;
const ANY_GAS = 10_000_000n;

/**
 * Tries the fill of a request in a token of which nobody knows how it behaves, before it is promised.
 * @throws ServiceError DESTINATION_TX_FAILED; SERVICE_UNAVAILABLE when it cannot be tried now; RpcFault
 */
export async function dryRunExchange(
  services: DryRunServices,
  { destination }: Pick<QuoteQuestion, "destination">,
  { requestId, orderId, recipient, destination: { currency, expectedAmount, paidFrom } }: RequestTerms,
): Promise<void> {
  if (paidFrom === undefined) return;
  const plan = await planFillWithSwap(
    { ...services, signer: { address: services.solver } },
    destination,
    {
      leg: { kind: "fill", requestId },
      currency,
      amount: expectedAmount,
      recipient,
      orderId,
      cancelAfterMs: 0,
      toContract: false,
      maxGas: ANY_GAS,
    },
    { paidFrom, planned: ANY_AMOUNT, max: ANY_AMOUNT },
  );
  if (plan.kind === "ready") return;
  if ((plan.kind === "refused" || plan.kind === "moved") && plan.tried !== undefined)
    throw failedFill(destination, services.solver, [], plan.tried);
  throw new ServiceError("SERVICE_UNAVAILABLE", "The fill could not be simulated; try again", {
    field: "destinationCurrency",
  });
}
