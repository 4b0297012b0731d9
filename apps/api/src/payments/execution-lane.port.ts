import type { ConnectedChain } from "../chains/chains.port.ts";
import type { Leg } from "../db/leg.port.ts";
import type { SlotPlan } from "../db/records.port.ts";
import type { Sent } from "./reserve.port.ts";

export interface ExecutionPlan extends SlotPlan {
  readonly leg: Extract<Leg, { kind: "execution" }>;
}

/**
 * Reserves a nonce for a simulated execution and sends it.
 * @throws RpcFault, or the error that prevented the broadcast; a retry finds what was committed and sends it
 */
export type SendExecution = (connected: ConnectedChain, plan: ExecutionPlan) => Promise<Sent>;
