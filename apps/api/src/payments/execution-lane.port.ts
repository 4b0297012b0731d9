import type { ConnectedChain } from "../chains/chains.port.ts";
import type { Leg } from "../db/leg.port.ts";
import type { SlotPlan } from "../db/records.port.ts";

/**
 * `moved`: another process handles it, or it is no longer needed. `short`: the executor's native balance does
 * not cover it; nothing was written.
 */
export type ExecutionSent = "sent" | "moved" | "short";

export interface ExecutionPlan extends SlotPlan {
  readonly leg: Extract<Leg, { kind: "execution" }>;
}

/**
 * Reserves a nonce for a simulated execution and sends it.
 * @throws RpcFault, or the error that prevented the broadcast; a retry finds what was committed and sends it
 */
export type SendExecution = (connected: ConnectedChain, plan: ExecutionPlan) => Promise<ExecutionSent>;
