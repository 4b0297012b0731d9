import { convertUp } from "../money/usd.ts";
import type { PricedUnit } from "../money/usd.ts";

/**
 * What is refunded of a deposit, in base units of its currency. `gasFee` is the cost of the refund
 * transaction.
 */
export type RefundAmount =
  | { readonly kind: "refund"; readonly amount: bigint; readonly gasFee: bigint }
  /** The gas costs at least the deposit's value, so nothing is refunded. */
  | { readonly kind: "tooLow"; readonly gasFee: bigint };

/** The deposit minus the gas of its refund, the gas converted into the deposit's currency and rounded up. */
export function refundAmount(
  deposit: bigint,
  refundGasCostWei: bigint,
  native: PricedUnit,
  currency: PricedUnit,
): RefundAmount {
  const gasFee = convertUp(refundGasCostWei, native, currency);
  return deposit > gasFee ? { kind: "refund", amount: deposit - gasFee, gasFee } : { kind: "tooLow", gasFee };
}
