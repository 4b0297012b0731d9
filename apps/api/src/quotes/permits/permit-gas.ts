import { depositAddressGas, routeGas } from "@causeway/contracts";
import type { Currency, PermitMethod } from "@causeway/domain";
import type { QuoteGas } from "../../markets/quote-policy.port.ts";
import type { RouteSwap } from "../routing/find-swaps.ts";
import { routedDepositGas } from "../routing/step-gas.ts";

/**
 * Gas units of the transaction that submits a signature and deposits.
 * @param originSwap the swap whose output is deposited; absent: the payment itself is deposited
 */
export function permitGasUnits(
  gas: Pick<QuoteGas, "routed">,
  method: PermitMethod,
  { paid, deposited, originSwap }: { paid: Currency; deposited: Currency; originSwap: RouteSwap | undefined },
): bigint {
  if (method === "eip2612") return depositAddressGas.pull;
  const signed = method === "permit2" ? routeGas.permit2 : routeGas.authorization;
  if (originSwap === undefined && paid.address === deposited.address) return signed;
  // Replaces the approval proxy's pull, which `routedDepositGas` includes, by the signed pull.
  return routedDepositGas(gas, paid, deposited, originSwap) + signed - routeGas.depositErc20;
}
