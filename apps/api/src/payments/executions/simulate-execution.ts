import { judgeEffects } from "@causeway/chains";
import type { FeeCaps, TraceOptions, TraceOutcome } from "@causeway/chains";
import type { Address, FrameLog, SimulationFailure } from "@causeway/domain";
import type { ConnectedChain } from "../../chains/chains.port.ts";
import type { LaneCall } from "../../db/leg.port.ts";

/** What a call would do, as far as sending it depends on that. */
export type SimulatedExecution =
  | {
      readonly kind: "ok";
      readonly outcome: Extract<TraceOutcome, { kind: "ok" }>;
    }
  | { readonly kind: "reverts"; readonly failure: SimulationFailure }
  /** It would take more from the service than its price. */
  | { readonly kind: "forbidden"; readonly message: string }
  /** The node cannot tell what it would take. */
  | { readonly kind: "unseen" }
  /** Whoever sends it lacks the coin for its value and gas. */
  | { readonly kind: "insufficientFunds" };

export interface SimulationQuestion {
  readonly from: Address;
  readonly call: LaneCall;
  readonly fees: FeeCaps;
  /** The limit it will be sent with; without one the limit it needs is looked for. */
  readonly gas?: bigint;
  /** Accounts of the service. */
  readonly ours: readonly Address[];
  /** Leaves out what the call is meant to take from them; without it all is judged. */
  readonly withoutOwn?: (logs: readonly FrameLog[]) => readonly FrameLog[];
}

/**
 * Runs a call on the newest state, and judges what it would take from the service.
 * @throws RpcFault when the node did not tell
 */
export async function simulateExecution(
  { connection }: Pick<ConnectedChain, "connection">,
  { from, call, fees, gas, ours, withoutOwn = (logs) => logs }: SimulationQuestion,
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
  const effects = { ...outcome.effects, logs: withoutOwn(outcome.effects.logs) };
  const forbidden = judgeEffects(effects, {
    sender: from,
    protectedAccounts: ours,
    allowedSpendWei: value + outcome.gas * fees.maxFeePerGas,
  });
  return forbidden === undefined
    ? { kind: "ok", outcome }
    : { kind: "forbidden", message: forbidden.message };
}
