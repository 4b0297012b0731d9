import type { Address } from "@causeway/domain";
import {
  quantityOf,
  toQuantity,
  type CallPlan,
  type FeeCaps,
  type SimulationOutcome,
} from "@causeway/families/evm";
import { simulationOutcomeOf } from "./rpc-errors.ts";
import { NodeRefusal } from "@causeway/families";
import type { RpcTransport } from "../nodes/transport.ts";

/** A call and its gas limit. Default: as much as the node allows. */
export type SimulatedCall = CallPlan & { readonly gasLimit?: bigint };

/**
 * Simulates a call on the latest state with `eth_estimateGas`.
 *
 * Without `fees`, only the value and not the gas is checked against the sender's balance, and the call sees a
 * gas price of zero, which code can detect. With `fees`, it sees its real gas price, and the gas is checked
 * at `maxFeePerGas`.
 *
 * @returns the gas limit to use, or why the call fails
 * @throws RpcFault if the node does not report whether the call succeeds, also when `fees` are below the
 * current base fee
 */
export async function simulateCall(
  transport: RpcTransport,
  from: Address,
  call: SimulatedCall,
  fees?: FeeCaps,
): Promise<SimulationOutcome> {
  const outcome = await estimate(transport, from, call, fees);
  if (fees === undefined || outcome.kind !== "reverts") return outcome;
  // Nodes provide no more gas than the sender can pay for. A call that needs more runs out of gas, or reverts
  // in the contract that made the inner call. Without a gas price, these are distinguishable from a fault of
  // the call itself.
  const method = "eth_getBalance";
  const [unpriced, balance] = await Promise.all([
    estimate(transport, from, call),
    transport.request(method, [from, "latest"]).then((answer) => quantityOf(answer, method)),
  ]);
  const lacksFunds =
    unpriced.kind === "insufficientFunds" ||
    (unpriced.kind === "ok" && call.value + unpriced.gas * fees.maxFeePerGas > balance);
  return lacksFunds ? { kind: "insufficientFunds" } : outcome;
}

async function estimate(
  transport: RpcTransport,
  from: Address,
  call: SimulatedCall,
  fees?: FeeCaps,
): Promise<SimulationOutcome> {
  const method = "eth_estimateGas";
  const transaction = {
    from,
    to: call.to,
    data: call.data,
    value: toQuantity(call.value),
    ...(call.gasLimit !== undefined && { gas: toQuantity(call.gasLimit) }),
    ...(fees && {
      maxFeePerGas: toQuantity(fees.maxFeePerGas),
      maxPriorityFeePerGas: toQuantity(fees.maxPriorityFeePerGas),
    }),
  };
  try {
    return { kind: "ok", gas: quantityOf(await transport.request(method, [transaction, "latest"]), method) };
  } catch (error) {
    const outcome = error instanceof NodeRefusal ? simulationOutcomeOf(error) : undefined;
    if (outcome === undefined) throw error;
    return outcome;
  }
}
