import type { Address } from "@causeway/domain";
import type { CallPlan, SimulationOutcome } from "../family.ts";
import { quantityOf, toQuantity } from "./answers.ts";
import { simulationOutcomeOf } from "./rpc-errors.ts";
import { NodeRefusal } from "./rpc-fault.ts";
import type { RpcTransport } from "./transport.ts";

/**
 * Runs a call on the latest state without sending it, by `eth_estimateGas`.
 *
 * No gas price is given, so that only the value, not the gas, is checked against the sender's balance.
 *
 * @returns the gas to give it, or what the chain itself says against it
 * @throws RpcFault when the node did not say whether the call succeeds
 */
export async function simulateCall(
  transport: RpcTransport,
  from: Address,
  call: CallPlan,
): Promise<SimulationOutcome> {
  const method = "eth_estimateGas";
  try {
    const transaction = { from, to: call.to, data: call.data, value: toQuantity(call.value) };
    return { kind: "ok", gas: quantityOf(await transport.request(method, [transaction, "latest"]), method) };
  } catch (error) {
    const outcome = error instanceof NodeRefusal ? simulationOutcomeOf(error) : undefined;
    if (outcome === undefined) throw error;
    return outcome;
  }
}
