import type { Address } from "@causeway/domain";
import type { ExecuteAnswer } from "@causeway/wire";
import { tickBatcher } from "../db/tick-batcher.postgres.ts";
import type { ExecutionPlan, ExecutionSent, SendExecution } from "../payments/execution-lane.port.ts";
import type { Services } from "../db/services.port.ts";
import { acceptExecution, insufficient } from "../executions/accept-execution.ts";
import type { Acceptable, AcceptServices } from "../executions/accept-execution.ts";
import { acceptTogether, isPlain } from "../executions/accept-together.ts";
import type { AcceptedTogether, PlainAcceptable } from "../executions/accept-together.ts";
import { acceptedAnswer } from "../executions/accepted-answer.ts";
import { burstGate } from "../payments/executions/burst-gate.ts";
import { sendExecutions } from "../payments/executions/send-execution.ts";
import type { SendServices } from "../payments/executions/send-execution.ts";

/**
 * One commit is under way for a wallet at a time: its row is locked meanwhile anyway, and what comes until it
 * is done goes into the next.
 */
const BATCHES = { inFlight: 1, maxBatch: 50 };

/**
 * Accepts executions: plain calls of one wallet that come at the same moment in one commit, all others each
 * in its own. A call alone waits for nobody. When a common commit fails, each of its calls is tried by
 * itself, so that none fails for another's sake.
 */
export function groupedAcceptance(
  services: AcceptServices,
): (acceptable: Acceptable) => Promise<ExecuteAnswer> {
  const groups = new Map<Address, (call: PlainAcceptable) => Promise<AcceptedTogether>>();
  const groupOf = (wallet: Address): ((call: PlainAcceptable) => Promise<AcceptedTogether>) => {
    const known = groups.get(wallet);
    if (known !== undefined) return known;
    const group = tickBatcher(
      (calls: readonly PlainAcceptable[]) => acceptTogether(services, wallet, calls),
      BATCHES,
    );
    groups.set(wallet, group);
    return group;
  };
  return async (acceptable) => {
    if (!isPlain(acceptable)) return await acceptExecution(services, acceptable);
    const { wallet, requestId } = acceptable;
    let outcome: AcceptedTogether;
    try {
      outcome = await groupOf(wallet)(acceptable);
    } catch {
      // Nothing of it was committed, or all of it: then the request's id is taken, and this fails.
      return await acceptExecution(services, acceptable);
    }
    if (outcome.kind === "insufficient") throw insufficient(wallet, outcome);
    return acceptedAnswer(requestId);
  };
}

/** The lane's row is locked by whoever gives nonces away: more at a time would only wait for it. */
const LANE_BATCHES = { inFlight: 1, maxBatch: 50 };

/** Sends executions: those of one chain that come at the same moment together. One alone waits for nobody. */
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

/**
 * A burst is held for less than the blocks of most chains take, and long enough that most of it is accepted
 * before its first is looked at again.
 */
const BURSTS = { atOnce: 6, withinMs: 100, heldMs: 300 };

/** How a worker paces executions. */
export function executionPace(
  services: SendServices & Pick<Services, "clock">,
): Required<Pick<Services, "sendExecution" | "executionTurn">> {
  return { sendExecution: groupedSending(services), executionTurn: burstGate(services.clock, BURSTS) };
}
