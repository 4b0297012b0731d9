import type { TraceOptions } from "@causeway/chains";
import { unreachable } from "@causeway/domain";
import type { FailReason, FrameLog, SimulationFailure } from "@causeway/domain";
import type { ConnectedChain } from "../chains/chains.port.ts";
import { simulateExecution } from "./executions/simulate-execution.ts";
import type { SimulationQuestion } from "./executions/simulate-execution.ts";

/** May succeed later. Without a reason, the solver's balance is too low. */
export interface Short {
  readonly kind: "short";
  readonly why: string;
  readonly reason?: FailReason;
}

/** `short` is temporary. `fails`: `failure` is undefined if the call is not allowed. */
export type TriedCall =
  | { readonly kind: "ok"; readonly gas: bigint; readonly logs: readonly FrameLog[] }
  | Short
  | {
      readonly kind: "fails";
      readonly reason: string;
      readonly failure: SimulationFailure | undefined;
    };

/** Simulates a fill on the latest state. @throws RpcFault if the node did not answer */
export async function tryFill(
  connected: Pick<ConnectedChain, "connection">,
  question: SimulationQuestion,
  options?: TraceOptions,
): Promise<TriedCall> {
  const simulated = await simulateExecution(connected, question, options);
  switch (simulated.kind) {
    case "reverts": {
      const { failure } = simulated;
      return { kind: "fails", reason: `${failure.label}: ${failure.message}`, failure };
    }
    case "forbidden":
      return { kind: "fails", reason: simulated.message, failure: undefined };
    case "insufficientFunds":
      return { kind: "short", why: "the solver lacks the funds for the fill" };
    case "unseen":
      return {
        kind: "short",
        why: "the node cannot trace the fill",
        reason: "SOLVER_CAPACITY_EXCEEDED",
      };
    case "ok": {
      const { gas, effects } = simulated.outcome;
      return { kind: "ok", gas, logs: effects.kind === "seen" ? effects.logs : [] };
    }
    default:
      return unreachable(simulated);
  }
}
