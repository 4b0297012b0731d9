import { fillThroughCalls, keepsPayment, remainderInFill } from "@causeway/chains";
import type { FrameLog } from "@causeway/domain";
import { TRACE_OF_CALLS } from "./routed-fill.ts";
import type { BoughtFor, CallsOfFill, RoutedFill, RoutedPayment } from "./routed-fill.ts";

/** The whole output, perhaps bought in a swap, given to the calls of the quote. */
export function giveToCalls(
  routed: RoutedPayment,
  { calls, authorizationList, minLeft }: CallsOfFill,
  exchanged: BoughtFor | undefined,
): RoutedFill {
  const { payment, router } = routed;
  const left = (logs: readonly FrameLog[]): bigint =>
    minLeft === undefined ? 0n : remainderInFill(logs, routed);
  return {
    call: {
      ...fillThroughCalls({ ...routed, calls, minLeft, ...(exchanged && { swap: exchanged }) }),
      authorizationList,
    },
    rejection: "EXECUTION_REVERTED",
    loss: "the calls take from the recipient what is left of the output",
    // The balance that the router sees may differ from the token's events.
    unattested(logs) {
      const amount = minLeft === undefined || minLeft === 0n ? left(logs) : minLeft;
      return amount === 0n || keepsPayment(logs, { ...payment, amount }, router)
        ? undefined
        : "the calls take from the recipient what is left of the output, so oracles could not attest the payment";
    },
    trace: TRACE_OF_CALLS,
    untraceable: "the node cannot trace the fill",
    capsGasLimit: true,
    left,
  };
}
