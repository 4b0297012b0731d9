import { tickBatcher } from "../../db/tick-batcher.ts";
import type { ExecutionPlan, ExecutionSent, SendExecution } from "../execution-lane.port.ts";
import type { SendServices } from "../send-together.ts";
import { sendExecutions } from "./send-execution.ts";

/** One batch per lane at a time, because each locks the lane's row to allocate nonces. */
const LANE_BATCHES = { inFlight: 1, maxBatch: 50 };

/** Sends simultaneous executions of one chain together. A single execution does not wait. */
export function groupedSending(services: SendServices): SendExecution {
  const lanes = new Map<number, (plan: ExecutionPlan) => Promise<ExecutionSent | Error>>();
  return async (connected, plan) => {
    const { id } = connected.chain;
    const send =
      lanes.get(id) ??
      tickBatcher(
        (plans: readonly ExecutionPlan[]) => sendExecutions(services, connected, plans),
        LANE_BATCHES,
      );
    lanes.set(id, send);
    const sent = await send(plan);
    if (sent instanceof Error) throw sent;
    return sent;
  };
}
