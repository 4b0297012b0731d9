import { fitsMessage, weightedDifference } from "@causeway/domain";
import type { Order } from "@causeway/domain";
import { rejected } from "../ports/attestation-error.ts";

/**
 * The weighted difference of the deposits, as a message can say it.
 * @param paid amount per input of the order, smallest units.
 * @throws AttestationError rejected when it does not fit the message.
 */
export function messageDifference(order: Order, paid: readonly bigint[]): bigint {
  const difference = weightedDifference(order, paid);
  if (!fitsMessage(difference))
    throw rejected("order.inputs", "deposit amounts are too far from the order's amounts to be attested");
  return difference;
}
