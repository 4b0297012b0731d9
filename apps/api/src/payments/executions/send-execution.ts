import { NATIVE_CURRENCY } from "@causeway/domain";
import type { ConnectedChain } from "../../chains/chains.port.ts";
import type { ExecutionPlan, ExecutionSent, SendExecution } from "../execution-lane.port.ts";
import { inLaneBatches } from "../lane-batches.ts";
import { LegTaken } from "../leg-taken.port.ts";
import type { Slot, SlotPlan } from "../../db/records.port.ts";
import type { LaneWrites } from "../../db/unit-of-work.port.ts";
import { sendSlot } from "../send-slot.ts";
import { type SendServices, sendTogether } from "../send-together.ts";
import { awaitsExecution } from "./awaits-execution.ts";
import { isOpen } from "./open-execution.ts";

/** One batch per chain at a time, because each locks the lane's row to allocate nonces. */
const IN_FLIGHT = 1;

/** Sends simultaneous executions of one chain together. */
export function groupedExecutions(services: SendServices): SendExecution {
  return inLaneBatches(
    (connected, plans: readonly ExecutionPlan[]) => sendExecutions(services, connected, plans),
    IN_FLIGHT,
  );
}

/** Reserves a nonce for one execution and sends it. @throws as a `SendExecution` does */
export async function sendExecution(
  services: SendServices,
  connected: ConnectedChain,
  plan: ExecutionPlan,
): Promise<ExecutionSent> {
  const { requestId } = plan.leg;
  const outcome = await services.uow
    .run(async (tx) => {
      const current = await tx.requests.lock(requestId);
      if (current === undefined || !awaitsExecution(current.state)) return "moved" as const;
      // Abandoned by another process: if sent, no one would pay for it.
      if (!isOpen(await tx.executions.lock(requestId))) return "moved" as const;
      await tx.lanes.lockLane(plan.chainId, plan.sender);
      const leftWei = await uncommittedNative(tx, connected, plan);
      if (leftWei < maxWei(plan)) return "short" as const;
      const slot = await tx.lanes.reserve(plan, services.clock.nowMs());
      await tx.requests.note(requestId, services.clock.nowMs(), "executionPlanned", { nonce: slot.nonce });
      return { slotId: slot.id };
    })
    .catch((error: unknown) => {
      if (error instanceof LegTaken) return "moved" as const;
      throw error;
    });
  if (outcome === "moved" || outcome === "short") return outcome;
  services.events.happened("execution_planned", { requestId, chain: connected.chain.name });
  await sendSlot(services, outcome.slotId);
  return "sent";
}

/**
 * The same for concurrent executions of one chain: their nonces, their bytes and the nodes' answers are
 * stored in one commit each.
 * @returns the outcome of each, in order; an error concerns that one alone, and a retry finds its nonce
 * @throws what prevents all of them from being sent
 */
export async function sendExecutions(
  services: SendServices,
  connected: ConnectedChain,
  plans: readonly ExecutionPlan[],
): Promise<ReadonlyArray<ExecutionSent | Error>> {
  const [only, ...others] = plans;
  if (only === undefined) return [];
  if (others.length === 0) return [await sendExecution(services, connected, only)];

  const { slots, short } = await reserveTogether(services, connected, plans);
  for (const { leg } of slots)
    services.events.happened("execution_planned", { requestId: leg.requestId, chain: connected.chain.name });
  const errors = await sendTogether(services, connected, slots);
  const slotOf = new Map(slots.map((slot) => [slot.leg.requestId, slot]));
  return plans.map(({ leg: { requestId } }) => {
    const slot = slotOf.get(requestId);
    if (slot === undefined) return short.has(requestId) ? "short" : "moved";
    return errors.get(slot.id) ?? "sent";
  });
}

async function reserveTogether(
  services: SendServices,
  connected: ConnectedChain,
  plans: readonly ExecutionPlan[],
): Promise<{ readonly slots: readonly Slot[]; readonly short: ReadonlySet<string> }> {
  const ids = plans.map(({ leg }) => leg.requestId);
  return await services.uow.run(async (tx) => {
    const requests = await tx.requests.lockAll(ids);
    const executions = await tx.executions.lockAll(ids);
    const wanted = plans.filter(({ leg: { requestId } }) => {
      const request = requests.get(requestId);
      return request !== undefined && awaitsExecution(request.state) && isOpen(executions.get(requestId));
    });
    const short = new Set<string>();
    const [first] = wanted;
    if (first === undefined) return { slots: [], short };
    await tx.lanes.lockLane(first.chainId, first.sender);
    let leftWei = await uncommittedNative(tx, connected, first);
    const covered = wanted.filter((plan) => {
      if (leftWei < maxWei(plan)) {
        short.add(plan.leg.requestId);
        return false;
      }
      leftWei -= maxWei(plan);
      return true;
    });
    const nowMs = services.clock.nowMs();
    const slots = await tx.lanes.reserveTogether(covered, nowMs);
    const notes = slots.flatMap(({ leg: { requestId }, nonce }) =>
      requestId ? [{ requestId, event: "executionPlanned" as const, detail: { nonce } }] : [],
    );
    await tx.requests.noteAll(notes, nowMs);
    return { slots, short };
  });
}

/**
 * The native balance of a sender minus everything it does not show yet, in wei; may be negative. Call with
 * the lane locked.
 */
export async function uncommittedNative(
  tx: { readonly lanes: Pick<LaneWrites, "reserved"> },
  { chain, pulse }: ConnectedChain,
  { sender }: Pick<SlotPlan, "sender">,
): Promise<bigint> {
  const has = pulse.gasBalance(sender);
  const { amount, gasWei } = await tx.lanes.reserved(chain.id, sender, NATIVE_CURRENCY, has.blockNumber);
  return has.amount - amount - gasWei;
}

/** Maximum native tokens that a call can cost its sender, including gas. */
export function maxWei({
  call,
  gasLimit,
  maxFeePerGas,
}: Pick<SlotPlan, "call" | "gasLimit" | "maxFeePerGas">): bigint {
  return call.value + gasLimit * maxFeePerGas;
}
