import type { ConnectedChain } from "../chains/chains.port.ts";
import type { Leg } from "../db/leg.port.ts";
import type { SlotPlan } from "../db/records.port.ts";
import type { Sent, Wanted } from "./reserve.port.ts";

export interface ExecutionPlan extends SlotPlan {
  readonly leg: Extract<Leg, { kind: "execution" }>;
}

/** A simulated execution. */
export interface WantedExecution extends Wanted {
  readonly plan: ExecutionPlan;
  readonly checkedAtMs: number;
}

/**
 * Reserves a nonce for a simulated execution and sends it.
 * @throws RpcFault, or the error that prevented the broadcast; a retry finds what was committed and sends it
 */
export type SendExecution = (connected: ConnectedChain, wanted: WantedExecution) => Promise<Sent>;
