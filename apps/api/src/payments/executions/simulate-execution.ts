import { judgeEffects } from "@causeway/chains";
import type { FeeCaps, TraceOptions, TraceOutcome } from "@causeway/chains";
import type { Address, FrameLog, SimulationFailure } from "@causeway/domain";
import type { ConnectedChain } from "../../chains/chains.port.ts";
import type { LaneCall } from "../../db/leg.port.ts";

/** The simulated effects of a call, as far as they decide whether to send it. */
export type SimulatedExecution =
  | {
      readonly kind: "ok";
      readonly outcome: Extract<TraceOutcome, { kind: "ok" }>;
    }
  | { readonly kind: "reverts"; readonly failure: SimulationFailure }
  /** It would take more from the service than its price. */
  | { readonly kind: "forbidden"; readonly message: string }
  /** The node cannot trace it. */
  | { readonly kind: "unseen" }
  /** The sender lacks native tokens for its value and gas. */
  | { readonly kind: "insufficientFunds" };

export interface SimulationInput {
  readonly from: Address;
  readonly call: LaneCall;
  readonly fees: FeeCaps;
  /** The gas limit to send it with; absent: it is estimated. */
  readonly gas?: bigint;
  /** Accounts of the service. */
  readonly ours: readonly Address[];
  /** Removes the logs of transfers that the call is meant to make; absent: all logs are judged. */
  readonly removeExpectedLogs?: (logs: readonly FrameLog[]) => readonly FrameLog[];
}

/**
 * Simulates a call on the latest state, and checks what it would cost the service.
 * @throws RpcFault if the node did not answer
 */
export async function simulateExecution(
  { connection }: Pick<ConnectedChain, "connection">,
  { from, call, fees, gas, ours, removeExpectedLogs = (logs) => logs }: SimulationInput,
  options: TraceOptions = {},
): Promise<SimulatedExecution> {
  const { to, data, value, authorizationList } = call;
  const traced = {
    to,
    data,
    value,
    ...(authorizationList && { authorizationList }),
    ...(gas !== undefined && { gas }),
  };
  const outcome = await connection.reader.trace(from, traced, fees, options);
  if (outcome.kind !== "ok") return outcome;
  if (outcome.effects.kind === "unseen") return { kind: "unseen" };
  const effects = { ...outcome.effects, logs: removeExpectedLogs(outcome.effects.logs) };
  const forbidden = judgeEffects(effects, {
    sender: from,
    protectedAccounts: ours,
    allowedSpendWei: value + outcome.gas * fees.maxFeePerGas,
  });
  return forbidden === undefined
    ? { kind: "ok", outcome }
    : { kind: "forbidden", message: forbidden.message };
}
