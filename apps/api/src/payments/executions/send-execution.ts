import type { ConnectedChain } from "../../chains/chains.port.ts";
import type { SendExecution, WantedExecution } from "../execution-lane.port.ts";
import { inLaneBatches, payTogether } from "../lane-batches.ts";
import { gasFunds } from "../payers/covers.ts";
import type { LegKindToPay, Sent } from "../reserve.port.ts";
import { reserveOne } from "../reserve.ts";
import { sendSlot } from "../send-slot.ts";
import type { SendServices } from "../send-together.ts";
import { awaitsExecution } from "./awaits-execution.ts";
import { isOpen } from "./open-execution.ts";

/** One batch per chain at a time: the next one gathers the calls that arrive meanwhile. */
const IN_FLIGHT = 1;

/** Sends simultaneous executions of one chain together. */
export function groupedExecutions(services: SendServices): SendExecution {
  return inLaneBatches(
    (connected, wanted: readonly WantedExecution[]) => sendExecutions(services, connected, wanted),
    IN_FLIGHT,
  );
}

/** Reserves a nonce for one execution and sends it. @throws as a `SendExecution` does */
export async function sendExecution(
  services: SendServices,
  connected: ConnectedChain,
  wanted: WantedExecution,
): Promise<Sent> {
  const funds = gasFunds(connected, wanted.plan.sender);
  const outcome = await reserveOne(services, funds, executionsOn(services, connected), wanted);
  if (outcome.kind !== "reserved") return outcome.kind;
  await sendSlot(services, outcome.slot.id);
  return "sent";
}

/** {@link payTogether} for executions. */
export async function sendExecutions(
  services: SendServices,
  connected: ConnectedChain,
  wanted: readonly WantedExecution[],
): Promise<ReadonlyArray<Sent | Error>> {
  const [first] = wanted;
  if (first === undefined) return [];
  const funds = gasFunds(connected, first.plan.sender);
  return await payTogether(services, connected, funds, executionsOn(services, connected), wanted);
}

function executionsOn(
  { clock }: Pick<SendServices, "clock">,
  { chain }: ConnectedChain,
): LegKindToPay<WantedExecution> {
  return {
    async due(tx, wanted, requests) {
      const ids = wanted.map(({ plan }) => plan.leg.requestId);
      const executions = await tx.executions.lockAll(ids);
      return ids.map((id) => {
        const request = requests.get(id);
        // Settled by another process: if sent, no one would pay for it.
        const isDue = request !== undefined && awaitsExecution(request.state) && isOpen(executions.get(id));
        return isDue ? "due" : "moved";
      });
    },
    async taken(tx, taken) {
      const planned = taken.map(({ wanted: { plan }, slot: { nonce } }) => {
        const { requestId } = plan.leg;
        tx.events.happened("execution_planned", { requestId, chain: chain.name });
        return { requestId, event: "executionPlanned" as const, detail: { nonce } };
      });
      await tx.requests.noteAll(planned, clock.nowMs());
      return undefined;
    },
  };
}
