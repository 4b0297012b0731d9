import { depositAddressGas } from "@causeway/contracts";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address } from "@causeway/domain";

/**
 * Gas units of the transaction that deposits funds from an address, as measured, including the creation of
 * its clone.
 */
export function sweepGasOf(currency: Address): bigint {
  return currency === NATIVE_CURRENCY ? depositAddressGas.nativeFirst : depositAddressGas.erc20First;
}

/** The cost of a sweep by a transfer: that of a payment with one more input and output for the address. */
export function transferSweepCost(paymentCost: bigint): bigint {
  return (paymentCost * 3n) / 2n;
}
