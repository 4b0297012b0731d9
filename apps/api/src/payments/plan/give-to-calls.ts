import { fillThroughCalls, keepsPayment, remainderInFill } from "@causeway/chains";
import type { FrameLog } from "@causeway/domain";
import { TRACE_OF_CALLS } from "./routed-fill.ts";
import type { SwapForFill, CallsOfFill, RoutedFill, RoutedPayment } from "./routed-fill.ts";

/** Gives the whole output, bought in a swap if there is one, to the calls of the quote. */
export function giveToCalls(
  routed: RoutedPayment,
  { calls, authorizationList, minLeft }: CallsOfFill,
  swap: SwapForFill | undefined,
): RoutedFill {
  const { payment, router } = routed;
  const leftOutput = (logs: readonly FrameLog[]): bigint =>
    minLeft === undefined ? 0n : remainderInFill(logs, routed);
  return {
    call: {
      ...fillThroughCalls({ ...routed, calls, minLeft, ...(swap && { swap }) }),
      authorizationList,
    },
    rejectReason: "EXECUTION_REVERTED",
    lossReason: "the calls take from the recipient what is left of the output",
    // The balance that the router sees may differ from the token's events.
    whyUnattested(logs) {
      const amount = minLeft === undefined || minLeft === 0n ? leftOutput(logs) : minLeft;
      return amount === 0n || keepsPayment(logs, { ...payment, amount }, router)
        ? undefined
        : "the calls take from the recipient what is left of the output, so oracles could not attest the payment";
    },
    trace: TRACE_OF_CALLS,
    whyUntraceable: "the node cannot trace the fill",
    capsGasLimit: true,
    leftOutput,
  };
}
