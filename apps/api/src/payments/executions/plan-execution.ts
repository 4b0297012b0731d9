import type { FeeCaps, GasPrices } from "@causeway/chains";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { ConnectedChain } from "../../chains/chains.port.ts";
import { ownAccounts } from "../../chains/index.ts";
import type { SlotPlan } from "../../db/records.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import type { ExecutionRecord } from "../executions.port.ts";
import { findRefusedTarget } from "./own-contracts.ts";
import { simulateExecution } from "./simulate-execution.ts";
import { whySaleWaits } from "./value-sale.ts";

export type PlannedExecution =
  | { readonly kind: "ready"; readonly plan: SlotPlan }
  | { readonly kind: "waits"; readonly why: string }
  /** The call would fail, so it is not sent. */
  | { readonly kind: "fails"; readonly detail: Readonly<Record<string, unknown>> };

/** Simulates an accepted call again on the latest state. @throws RpcFault */
export async function planExecution(
  services: WorkerServices,
  connected: ConnectedChain,
  executor: SlotPlan["sender"],
  execution: ExecutionRecord,
  cancelAfterMs: number,
): Promise<PlannedExecution> {
  const { requestId, call, gasLimit, maxFeePerGas } = execution;
  const target = findRefusedTarget(services, connected, execution);
  if (target !== undefined) return refusedPlan(target);
  const prices = connected.pulse.gasPrices();
  // A transaction below the current base fee would only block the lane; one above the cap would cost more
  // than was reserved.
  if (prices.baseFeePerGas + prices.maxPriorityFeePerGas > maxFeePerGas)
    return { kind: "waits", why: "gas costs more than was reserved" };
  const fees = capFees(prices, maxFeePerGas);
  const ours = ownAccounts(services);
  const simulated = await simulateExecution(connected, { from: executor, call, fees, gas: gasLimit, ours });
  switch (simulated.kind) {
    case "reverts": {
      const { label, message, details } = simulated.failure;
      return { kind: "fails", detail: { label, message, details } };
    }
    case "forbidden":
      return { kind: "fails", detail: { message: simulated.message } };
    case "insufficientFunds":
      return { kind: "waits", why: "the executor lacks the native token" };
    case "unseen":
      return { kind: "waits", why: "the node cannot trace the call" };
    case "ok": {
      const refusedInnerTarget = findRefusedTarget(services, connected, execution, simulated.outcome.calls);
      if (refusedInnerTarget !== undefined) return refusedPlan(refusedInnerTarget);
      if (call.value > 0n) {
        const { salePriceUsd = execution.nativePriceUsd } = execution;
        const why = await whySaleWaits(services, requestId, connected.chain.native, salePriceUsd);
        if (why !== undefined) return { kind: "waits", why };
      }
      return {
        kind: "ready",
        plan: {
          chainId: connected.chain.id,
          sender: executor,
          leg: { kind: "execution", id: requestId, requestId },
          call,
          gasLimit,
          ...fees,
          outflow: { currency: NATIVE_CURRENCY, amount: call.value },
          cancelAfterMs,
        },
      };
    }
    default:
      return simulated satisfies never;
  }
}

function refusedPlan(target: string): PlannedExecution {
  const message = `executions must not call ${target}, a contract of this service`;
  return { kind: "fails", detail: { message } };
}

function capFees({ maxFeePerGas, maxPriorityFeePerGas }: GasPrices, capWei: bigint): FeeCaps {
  return {
    maxFeePerGas: maxFeePerGas < capWei ? maxFeePerGas : capWei,
    maxPriorityFeePerGas: maxPriorityFeePerGas < capWei ? maxPriorityFeePerGas : capWei,
  };
}
