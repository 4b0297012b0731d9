import type { ConnectedChain } from "../chains/chains.port.ts";
import { tickBatcher } from "../db/tick-batcher.ts";

/** Maximum number of payments in one batch. */
const MAX_BATCH = 50;

/**
 * Sends simultaneous payments of one chain together. A single payment does not wait.
 * @param sendAll the outcome of each, in order; an error concerns that one alone
 * @param inFlight batches per chain at the same time
 */
export function inLaneBatches<Plan, Sent extends string>(
  sendAll: (connected: ConnectedChain, plans: readonly Plan[]) => Promise<ReadonlyArray<Sent | Error>>,
  inFlight: number,
): (connected: ConnectedChain, plan: Plan) => Promise<Sent> {
  const lanes = new Map<number, (plan: Plan) => Promise<Sent | Error>>();
  return async (connected, plan) => {
    const { id } = connected.chain;
    const send =
      lanes.get(id) ??
      tickBatcher((plans: readonly Plan[]) => sendAll(connected, plans), { inFlight, maxBatch: MAX_BATCH });
    lanes.set(id, send);
    const sent = await send(plan);
    if (sent instanceof Error) throw sent;
    return sent;
  };
}
