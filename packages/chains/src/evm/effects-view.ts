import { NATIVE_CURRENCY } from "@causeway/domain";
import { toQuantity, type EffectsView, type FeeCaps } from "@causeway/families/evm";
import { isMethodMissing, isTracingRefused } from "./rpc-errors.ts";
import { NodeRefusal } from "@causeway/families";
import { transactionOf, type NodeRequest } from "./trace-question.ts";
import { runCalls } from "./trace-run.ts";

/** Gas for a call that does nothing. */
const GAS = 100_000n;

/**
 * Detects how the node shows the effects of calls, with a call that does nothing.
 *
 * @throws RpcFault if the node does not answer
 */
export async function readEffectsView(request: NodeRequest, fees: FeeCaps): Promise<EffectsView> {
  const call = { to: NATIVE_CURRENCY, data: "0x", value: 0n } as const;
  const question = { request, from: NATIVE_CURRENCY, call, fees, delegations: [] };
  if (await isSupported(() => runCalls(question, { gas: GAS, way: "listed", isSenderFunded: true })))
    return "traced";
  const simulated = { ...transactionOf(question), gas: toQuantity(GAS) };
  const simulation = { blockStateCalls: [{ calls: [simulated] }], traceTransfers: true, validation: false };
  return (await isSupported(() => request("eth_simulateV1", [simulation, "latest"])))
    ? "simulated"
    : "unseen";
}

async function isSupported(request: () => Promise<unknown>): Promise<boolean> {
  try {
    await request();
    return true;
  } catch (error) {
    if (!(error instanceof NodeRefusal)) throw error;
    if (isMethodMissing(error) || isTracingRefused(error)) return false;
    throw error;
  }
}
