import type { ConnectedRail } from "../../chains/chains.port.ts";
import type { RequestRecord, SlotPlan } from "../../db/records.port.ts";
import type { Services } from "../../db/services.port.ts";
import { slotPlanOf } from "./rail-payment.ts";

/** `refused`: the recipient cannot be paid this. */
export type FillByRailPlan =
  | { readonly kind: "ready"; readonly plan: SlotPlan }
  | { readonly kind: "refused"; readonly reason: string };

/** Plans the payment of a recipient on a non-EVM chain. @throws RpcFault: unknown now; retry */
export async function planFillByRail(
  { enginePolicy }: Pick<Services, "enginePolicy">,
  connected: ConnectedRail,
  { terms }: Pick<RequestRecord, "terms">,
  amount: bigint,
): Promise<FillByRailPlan> {
  const { rail } = connected;
  const { requestId, recipient, orderId, destination, outputCalls, gasTopup, fillDeadlineMs } = terms;
  const { currency, paidFrom } = destination;
  if (outputCalls !== undefined || gasTopup !== undefined || paidFrom !== undefined)
    return { kind: "refused", reason: "a fill on a non-EVM chain supports no calls, topupGas or swap" };
  const [refusal, cost] = await Promise.all([
    rail.refusalOf({ recipient, currency, amount }),
    rail.paymentCost(currency, recipient),
  ]);
  if (refusal !== undefined) return { kind: "refused", reason: refusal };
  return {
    kind: "ready",
    plan: slotPlanOf(connected, {
      leg: { kind: "fill", requestId },
      currency,
      amount,
      recipient,
      orderId,
      cancelAfterMs: fillDeadlineMs + enginePolicy.cancelAfterDeadlineMs,
      cost,
    }),
  };
}
