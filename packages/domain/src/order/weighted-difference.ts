import type { Order } from "./order.ts";

/** The value 1 in units of {@link weightedDifference}. */
export const DIFFERENCE_SCALE = 10n ** 18n;

/** Σ requested amount · weight of an order's inputs. */
export function totalWeight({ inputs }: Order): bigint {
  return inputs.reduce((sum, { payment }) => sum + payment.amount * payment.weight, 0n);
}

/**
 * How much more (or less: negative) was deposited than the order requests: (Σ paid·weight − Σ
 * requested·weight) · 10^18 / Σ requested·weight, truncated toward zero.
 * @param paid amount per input of the order, base units
 * @throws RangeError if the order requests nothing
 */
export function weightedDifference(order: Order, paid: readonly bigint[]): bigint {
  const requested = totalWeight(order);
  if (requested === 0n) throw new RangeError("the sum of the order's amounts times weights is zero");
  const received = order.inputs.reduce((sum, { payment }, i) => sum + (paid[i] ?? 0n) * payment.weight, 0n);
  // Division of bigints truncates toward zero.
  return ((received - requested) * DIFFERENCE_SCALE) / requested;
}

/** The minimum refund, scaled by how much more or less was deposited. */
export function scaledMinimum(minimumAmount: bigint, difference: bigint): bigint {
  return minimumAmount + (minimumAmount * difference) / DIFFERENCE_SCALE;
}
