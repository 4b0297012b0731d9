import { depositAddressGas } from "@causeway/contracts";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address } from "@causeway/domain";
import type { ConnectedNonEvmChain } from "../../chains/chains.port.ts";

/**
 * Gas units of the transaction that deposits funds from an address, as measured, including the creation of
 * its clone.
 */
export function sweepGasOf(currency: Address): bigint {
  return currency === NATIVE_CURRENCY ? depositAddressGas.nativeFirst : depositAddressGas.erc20First;
}

/**
 * The cost of a sweep that the solver makes, base units of the native token; 0 without deposit addresses.
 * @throws ServiceError RPC_HTTP_ERROR when no fresh value is known
 */
export function transferSweepCost({
  chain,
  connection,
  pulse,
}: Pick<ConnectedNonEvmChain, "chain" | "connection" | "pulse">): bigint {
  return connection.depositAddresses?.sweepCost(pulse.paymentCost(chain.native.address)) ?? 0n;
}
