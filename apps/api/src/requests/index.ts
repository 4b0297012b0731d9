/** The interface of this room for other rooms; everything else is private. */
export { describeIndexed, type UnattributedServices } from "./history/unattributed-deposits.ts";
export { isStillDue, planRefundOf, planUnattributedRefund } from "./attestable-refund.ts";
export { refundCancelAfterMs } from "./cancel-refund.ts";
export { PRICE_WAIT_MS, priceOfRefund } from "./refund-price.ts";
export { refundRecipient } from "./refund-recipient.ts";
export { newRequestId } from "./request-id.ts";
export type { OrderSigner } from "./signing/order-signer.port.ts";
export { signOrderForQuote as signedOrder } from "./signing/sign-order-for-quote.ts";
export { statusView, successorView } from "./request-status.ts";
export {
  executeJob,
  fillJob,
  type Move,
  refundJob,
  sweepJob,
  transition,
  transitionAll,
  type TransitionServices,
} from "./transition.ts";
