import type { RequestId } from "@causeway/domain";
import type { ConnectedChain } from "../chains/chains.port.ts";
import { tickBatcher } from "../db/tick-batcher.ts";
import type { Slot } from "../db/records.port.ts";
import { transitionAll } from "../requests/index.ts";
import { isBasisOf } from "./fill-basis.ts";
import { laneFunds } from "./lane-funds.ts";
import type { FillPlan, FillSent, SendFill } from "./fill-lane.port.ts";
import { sendTogether, type SendServices } from "./send-together.ts";

/** One batch per lane at a time, because each locks the lane's row to allocate nonces. */
const LANE_BATCHES = { inFlight: 1, maxBatch: 50 };

/** Sends simultaneous fills of one chain together. A single fill does not wait. */
export function groupedFills(services: SendServices): SendFill {
  const lanes = new Map<number, (fill: FillPlan) => Promise<FillSent | Error>>();
  return async (connected, fill) => {
    const { id } = connected.chain;
    const send =
      lanes.get(id) ??
      tickBatcher((fills: readonly FillPlan[]) => sendFills(services, connected, fills), LANE_BATCHES);
    lanes.set(id, send);
    const sent = await send(fill);
    if (sent instanceof Error) throw sent;
    return sent;
  };
}

/**
 * Reserves nonces of one lane for fills, in the commit that moves their requests, and sends them: for all of
 * them one commit for the nonces, one for the bytes and one for the nodes' answers.
 * @returns the outcome of each, in order; an error concerns that one alone, and a retry finds its nonce
 * @throws what prevents all of them from being sent
 */
export async function sendFills(
  services: SendServices,
  connected: ConnectedChain,
  fills: readonly FillPlan[],
): Promise<ReadonlyArray<FillSent | Error>> {
  const { slots, short } = await reserveFills(services, connected, fills);
  const errors = await sendTogether(services, connected, [...slots.values()]);
  return fills.map(({ requestId }) => {
    const slot = slots.get(requestId);
    if (slot === undefined) return short.has(requestId) ? "short" : "moved";
    return errors.get(slot.id) ?? "sent";
  });
}

async function reserveFills(services: SendServices, connected: ConnectedChain, fills: readonly FillPlan[]) {
  return await services.uow.run(async (tx) => {
    const records = await tx.requests.lockAll(fills.map(({ requestId }) => requestId));
    // A job that runs twice brings the same fill twice.
    const distinct = new Map(fills.toReversed().map((fill) => [fill.requestId, fill]));
    const wanted = [...distinct.values()].reverse().flatMap((fill) => {
      const record = records.get(fill.requestId);
      return record !== undefined && isBasisOf(fill.basis, record.state) ? [{ ...fill, record }] : [];
    });
    const short = new Set<RequestId>();
    const [first] = wanted;
    if (first === undefined) return { slots: new Map<RequestId, Slot>(), short };
    const { chainId, sender } = first.plan;
    await tx.lanes.lockLane(chainId, sender);
    const funds = laneFunds(tx, connected, sender);
    const covered: typeof wanted = [];
    for (const fill of wanted)
      if (await funds.take(fill.plan)) covered.push(fill);
      else short.add(fill.requestId);
    const nowMs = services.clock.nowMs();
    const reserved = await tx.lanes.reserveTogether(
      covered.map(({ plan, amount }) => ({ ...plan, delivers: amount })),
      nowMs,
    );
    const slots = new Map(reserved.map((slot) => [slot.leg.requestId as RequestId, slot]));
    const planned = covered.flatMap((fill) => {
      const slot = slots.get(fill.requestId);
      return slot === undefined ? [] : [{ ...fill, slot }];
    });
    await transitionAll(
      services,
      tx,
      planned.map(({ record, slot, amount }) => ({
        record,
        event: { kind: "fillPlanned" },
        facts: { nonce: slot.nonce, amount },
      })),
    );
    for (const { requestId, amount, basis } of planned)
      tx.events.happened("fill_planned", {
        requestId,
        chain: connected.chain.name,
        amount,
        fast: basis.kind === "front",
        tookMs: nowMs - basis.sinceMs,
      });
    return { slots, short };
  });
}
