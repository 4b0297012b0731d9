import { fillWithSwap, keepsPayment, losesPayment } from "@causeway/chains";
import type { BoughtFor, RoutedFill, RoutedPayment } from "./routed-fill.ts";

/** The payment bought in a swap, and a gas top-up. */
export function buyAndPay(
  routed: RoutedPayment,
  exchanged: BoughtFor,
  topup: bigint | undefined,
): RoutedFill {
  const { payment, router } = routed;
  return {
    call: fillWithSwap({ ...routed, ...exchanged, topup }),
    rejection: "DESTINATION_TOKEN_TRANSFER_REJECTED",
    // The balance that the router sees may differ from the token's events.
    unattested: (logs) =>
      keepsPayment(logs, payment, router)
        ? undefined
        : "the token emits no event of the payment, so oracles could not attest it",
    // A rejection by the recipient or by the token does not come from the pools.
    movesPools(failure) {
      const { address } = failure.details.innermost;
      return !losesPayment(failure, router) && address !== payment.recipient && address !== payment.currency;
    },
    trace: {},
    untraceable: "the node cannot trace the fill",
    capsGasLimit: false,
  };
}
