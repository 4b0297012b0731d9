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

/**
 * The cost of a sweep that is a transfer of the solver's: as large as a payment, and one input and output of
 * the address in addition.
 */
export function transferSweepCost(paymentCost: bigint): bigint {
  return (paymentCost * 3n) / 2n;
}
