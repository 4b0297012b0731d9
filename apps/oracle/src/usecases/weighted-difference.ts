import type { Order } from "@causeway/domain";
import { rejected } from "../ports/attestation-error.ts";
import { totalWeight } from "./read-order.ts";

/** One. */
export const SCALE = 10n ** 18n;
const INT256_LIMIT = 1n << 255n;

/**
 * How much more (or less) was deposited than the order asks for: (Σ paid·weight − Σ requested·weight) · 10^18 / Σ requested·weight, truncated toward zero.
 * @param paid amount per input of the order, smallest units.
 * @throws AttestationError rejected when it does not fit the message.
 */
export function weightedDifference(order: Order, paid: readonly bigint[]): bigint {
  const requested = totalWeight(order);
  const received = order.inputs.reduce((sum, { payment }, i) => sum + (paid[i] ?? 0n) * payment.weight, 0n);
  const difference = ((received - requested) * SCALE) / requested;
  if (difference >= INT256_LIMIT || difference < -INT256_LIMIT)
    throw rejected("order.inputs", "the deposits are out of all proportion to the order");
  return difference;
}

/** What must be given back at least: the refund's minimum, scaled by how much more or less was deposited. */
export function scaledMinimum(minimumAmount: bigint, difference: bigint): bigint {
  return minimumAmount + (minimumAmount * difference) / SCALE;
}
