import { fitsMessage, weightedDifference } from "@causeway/domain";
import type { Order } from "@causeway/domain";
import { rejected } from "../ports/attestation-error.ts";

/**
 * The weighted difference between paid and requested deposits, as a message encodes it.
 * @param paid amount per input of the order, base units
 * @throws AttestationError rejected if it does not fit the message
 */
export function messageDifference(order: Order, paid: readonly bigint[]): bigint {
  const difference = weightedDifference(order, paid);
  if (!fitsMessage(difference))
    throw rejected("order.inputs", "deposit amounts are too far from the order's amounts to be attested");
  return difference;
}
