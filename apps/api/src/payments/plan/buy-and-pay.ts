import { fillWithSwap, keepsPayment, losesPayment } from "@causeway/chains";
import type { SwapForFill, RoutedFill, RoutedPayment } from "./routed-fill.ts";

/** Buys the payment in a swap and makes it, with a gas top-up. */
export function buyAndPay(routed: RoutedPayment, swap: SwapForFill, topup: bigint | undefined): RoutedFill {
  const { payment, router } = routed;
  return {
    call: fillWithSwap({ ...routed, ...swap, topup }),
    rejectReason: "DESTINATION_TOKEN_TRANSFER_REJECTED",
    // The balance that the router sees may differ from the token's events.
    whyUnattested: (logs) =>
      keepsPayment(logs, payment, router)
        ? undefined
        : "the token emits no event of the payment, so oracles could not attest it",
    // A rejection by the recipient or by the token does not come from the pools.
    comesFromPools(failure) {
      const { address } = failure.details.innermost;
      return !losesPayment(failure, router) && address !== payment.recipient && address !== payment.currency;
    },
    trace: {},
    whyUntraceable: "the node cannot trace the fill",
    capsGasLimit: false,
  };
}
