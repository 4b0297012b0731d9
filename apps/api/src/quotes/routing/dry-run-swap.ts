import type { RequestTerms } from "@causeway/domain";
import { ServiceError } from "@causeway/domain";
import { planTransaction } from "../../payments/index.ts";
import type { QuoteQuestion } from "../quote-question.ts";
import { evmOf } from "../sides/side.ts";
import type { DryRunServices } from "./dry-run-calls.ts";
import { failedFill } from "./failed-fill.ts";

/** Swaps in a dry run are bounded by the solver's balance. */
const ANY_AMOUNT = 2n ** 255n;
const ANY_GAS = 10_000_000n;

/**
 * Dry-runs a fill with a token of unknown behavior before the terms are stored.
 * @throws ServiceError DESTINATION_TX_FAILED; SERVICE_UNAVAILABLE when the dry run is not possible now;
 * RpcFault
 */
export async function dryRunSwap(
  services: DryRunServices,
  { to }: Pick<QuoteQuestion, "to">,
  { requestId, orderId, recipient, destination: { currency, expectedAmount, paidFrom } }: RequestTerms,
): Promise<void> {
  if (paidFrom === undefined) return;
  const destination = evmOf(to);
  const payment = {
    leg: { kind: "fill", id: requestId, requestId },
    currency,
    amount: expectedAmount,
    recipient,
    orderId,
    cancelAfterMs: 0,
    toContract: false,
    maxGas: ANY_GAS,
  } as const;
  const plan = await planTransaction({ ...services, signer: { address: services.solver } }, destination, {
    payment,
    swap: { paidFrom, planned: ANY_AMOUNT, max: ANY_AMOUNT },
  });
  if (plan.kind === "ready") return;
  if (plan.tried !== undefined) throw failedFill(destination, services.solver, [], plan.tried);
  throw new ServiceError("SERVICE_UNAVAILABLE", "The fill could not be simulated; try again", {
    field: "destinationCurrency",
  });
}
