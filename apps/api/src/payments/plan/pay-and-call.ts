import { depositsForOrder, fillWithCalls, keepsPayment } from "@causeway/chains";
import type { FailReason } from "@causeway/domain";
import type { DestinationCalls } from "../executions/read-execution.ts";
import { TRACE_OF_CALLS } from "./routed-fill.ts";
import type { RoutedFill, RoutedPayment } from "./routed-fill.ts";

const LOSS_REASON = "the calls would take the payment from the recipient, so oracles could not attest it";

/** Makes the payment, then the calls of an execution or of a gas top-up. All succeed, or the fill reverts. */
export function payAndCall(
  routed: RoutedPayment,
  { calls, authorizationList }: DestinationCalls,
  rejectReason: FailReason = "EXECUTION_REVERTED",
): RoutedFill {
  const { payment, router } = routed;
  // Oracles refuse such a fill unless the order's own signer sends it, and that may be a former key.
  const deposits = calls.some(({ data }) => depositsForOrder(data, payment.orderId));
  return {
    call: { ...fillWithCalls({ ...routed, calls }), authorizationList },
    whyForbidden: deposits
      ? "a call makes a deposit with the order id of this request; use another deposit id"
      : undefined,
    rejectReason,
    // The router checks the balance in the block as well; only the logs show the token's events.
    lossReason: LOSS_REASON,
    whyUnattested: (logs) => (keepsPayment(logs, payment, router) ? undefined : LOSS_REASON),
    trace: TRACE_OF_CALLS,
    whyUntraceable: "the node cannot trace the calls",
    capsGasLimit: true,
  };
}
