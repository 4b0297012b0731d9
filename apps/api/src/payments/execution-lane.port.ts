import type { ConnectedChain } from "../chains/chains.port.ts";
import type { Leg } from "../db/leg.port.ts";
import type { SlotPlan } from "../db/records.port.ts";

/**
 * `moved`: somebody else has it in hand, or nobody needs it any more. `short`: the executor's coin does not
 * bear it now; nothing was written.
 */
export type ExecutionSent = "sent" | "moved" | "short";

export interface ExecutionPlan extends SlotPlan {
  readonly leg: Extract<Leg, { kind: "execution" }>;
}

/**
 * Gives an execution that was found to be possible its nonce, and sends it.
 * @throws RpcFault, or whatever kept it from being told; what was committed of it is found, and sent, when it
 * is tried again
 */
export type SendExecution = (connected: ConnectedChain, plan: ExecutionPlan) => Promise<ExecutionSent>;
