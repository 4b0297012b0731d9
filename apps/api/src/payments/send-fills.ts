import type { RequestId } from "@causeway/domain";
import type { ConnectedChain } from "../chains/chains.port.ts";
import { ServerReplaced } from "../db/server-replaced.port.ts";
import type { Slot } from "../db/records.port.ts";
import { transitionAll } from "../requests/index.ts";
import { isBasisOf } from "./fill-basis.ts";
import { inLaneBatches } from "./lane-batches.ts";
import { laneFunds } from "./lane-funds.ts";
import type { FillPlan, FillSent, SendFill } from "./fill-lane.port.ts";
import { asError, sendTogether, type SendServices } from "./send-together.ts";

/** The next batch reserves its nonces while this one is broadcast. More would wait for the lane's row. */
const IN_FLIGHT = 2;

/**
 * After this time a fill is checked again. A failover of the database can lose the payment of a fill; the
 * checks find it on the chain, and a lane is closed only for a while after a failover (`SETTLE_MS`).
 */
const MAX_AGE_MS = 20_000;

/** Sends simultaneous fills of one chain together. */
export function groupedFills(services: SendServices): SendFill {
  return inLaneBatches(
    (connected, fills: readonly FillPlan[]) => sendFills(services, connected, fills),
    IN_FLIGHT,
  );
}

/**
 * Reserves nonces of one lane for fills, in the commit that moves their requests, and sends them: for all of
 * them one commit for the nonces, one for the bytes and one for the nodes' answers. If the first of these
 * fails, each fill is tried alone, so that one fill cannot fail another.
 * @returns the outcome of each, in order; an error concerns that one alone, and a retry finds its nonce
 * @throws what prevents all of them from being sent
 */
export async function sendFills(
  services: SendServices,
  connected: ConnectedChain,
  fills: readonly FillPlan[],
): Promise<ReadonlyArray<FillSent | Error>> {
  const reserved = await reserveFills(services, connected, fills).catch((error: unknown) => asError(error));
  if (reserved instanceof Error) {
    if (fills.length === 1 || reserved instanceof ServerReplaced) throw reserved;
    return await eachAlone(services, connected, fills, reserved);
  }
  const { slots, short, late } = reserved;
  const errors = await sendTogether(services, connected, [...slots.values()]);
  return fills.map((fill) => {
    const slot = slots.get(fill.requestId);
    if (slot !== undefined) return errors.get(slot.id) ?? "sent";
    return late.has(fill) ? "late" : short.has(fill.requestId) ? "short" : "moved";
  });
}

async function eachAlone(
  services: SendServices,
  connected: ConnectedChain,
  fills: readonly FillPlan[],
  cause: Error,
): Promise<ReadonlyArray<FillSent | Error>> {
  const ends: Array<FillSent | Error> = [];
  /** Of the last fills, as long as each failed. */
  let failed: readonly Error[] = [];
  for (const fill of fills) {
    const [, common] = failed;
    // Not the fault of one fill: the jobs retry.
    if (common !== undefined) {
      ends.push(common);
      continue;
    }
    const [end = "moved"] = await sendFills(services, connected, [fill]).catch((error: unknown) => [
      asError(error),
    ]);
    failed = end instanceof Error ? [...failed, end] : [];
    // The common commit may have succeeded although its answer was lost: a retry continues with its nonce.
    ends.push(end === "moved" ? cause : end);
  }
  return ends;
}

async function reserveFills(services: SendServices, connected: ConnectedChain, fills: readonly FillPlan[]) {
  return await services.uow.run(async (tx) => {
    const records = await tx.requests.lockAll(fills.map(({ requestId }) => requestId));
    const due = fills.flatMap((fill) => {
      const record = records.get(fill.requestId);
      return record !== undefined && isBasisOf(fill.basis, record.state) ? [{ ...fill, record }] : [];
    });
    const short = new Set<RequestId>();
    const [first] = due;
    if (first === undefined) return { slots: new Map<RequestId, Slot>(), short, late: new Set<FillPlan>() };
    const { chainId, sender } = first.plan;
    await tx.lanes.lockLane(chainId, sender);
    // The wait for the lane counts too.
    const tooOldMs = performance.now() - MAX_AGE_MS;
    const late = new Set(fills.filter(({ checkedAtMs }) => checkedAtMs < tooOldMs));
    const fresh = due.filter(({ checkedAtMs }) => checkedAtMs >= tooOldMs);
    // A job that runs twice brings the same fill twice.
    const distinct = new Map(fresh.toReversed().map((fill) => [fill.requestId, fill]));
    const funds = laneFunds(tx, connected, sender);
    const covered: typeof due = [];
    for (const fill of [...distinct.values()].reverse())
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
        fast: false,
        tookMs: nowMs - basis.sinceMs,
      });
    return { slots, short, late };
  });
}
