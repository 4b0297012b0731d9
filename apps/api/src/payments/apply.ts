import type { ReceiptFact } from "@causeway/chains";
import type { FailReason } from "@causeway/domain";
import type { Attempt, Slot } from "../db/records.port.ts";
import { legOf } from "./legs/leg-of.ts";
import type { LegContext, LegServices } from "./legs/leg-course.ts";

/**
 * Moves a slot and its leg in one commit, which also raises the events. Does nothing if the slot changed
 * since it was read: what the chain showed was about that slot, and the next pass reads it again.
 * @param seen the slot as read, on which the move was decided
 * @returns the moved slot; undefined if it was not moved
 */
async function move(
  services: LegServices,
  seen: Slot,
  from: Slot["state"],
  act: (moment: LegContext) => Promise<Partial<Slot>>,
): Promise<Slot | undefined> {
  return await services.uow.run(async (tx) => {
    const { requestId } = seen.leg;
    const record = requestId === undefined ? undefined : await tx.requests.lock(requestId);
    const slot = await tx.lanes.lockSlot(seen.id);
    if (slot?.state !== from || !isUnchanged(seen, slot)) return undefined;
    return { ...slot, ...(await act({ services, tx, slot, record })) };
  });
}

function isUnchanged(seen: Slot, slot: Slot): boolean {
  return (
    slot.minedAttempt === seen.minedAttempt &&
    slot.minedBlockHash === seen.minedBlockHash &&
    slot.minedStatus === seen.minedStatus &&
    // Attempts are only added. One signed since may still pay.
    slot.attempts.length === seen.attempts.length
  );
}

/**
 * An attempt is in a canonical block.
 * @param attempt with the id that the chain gave it, where its signer could not know that
 */
export async function applyMined(
  services: LegServices,
  seen: Slot,
  attempt: Attempt,
  receipt: ReceiptFact,
): Promise<Slot | undefined> {
  const { n, kind, txHash } = attempt;
  const { blockNumber, blockHash, status, gasUsed, effectiveGasPrice } = receipt;
  return await move(services, seen, "open", async (moment) => {
    const { tx, slot } = moment;
    const signed = slot.attempts.find((one) => one.n === n);
    if (signed?.txHash !== txHash) await tx.lanes.renameAttempt(slot.id, n, txHash);
    const cost = { gasUsed, effectiveGasPrice };
    const atMs = services.clock.nowMs();
    await tx.lanes.setMined(slot.id, { attempt: n, blockNumber, blockHash, status, ...cost, atMs });
    if (kind === "pay") await legOf(slot).mined(moment, { attempt, receipt });
    tx.events.happened("slot_mined", { ...factsOf(slot), kind, status, txHash, block: blockNumber });
    return {
      state: "mined",
      minedAttempt: n,
      minedBlockNumber: blockNumber,
      minedBlockHash: blockHash,
      minedStatus: status,
      ...cost,
    };
  });
}

/** The block of a mined attempt was reorged out. */
export async function applyOrphaned(services: LegServices, seen: Slot): Promise<Slot | undefined> {
  return await move(services, seen, "mined", async (moment) => {
    const { tx, slot } = moment;
    await tx.lanes.setOpen(slot.id);
    // The bytes are the same, so they can pay only once; they are sent again immediately.
    await tx.lanes.forgetBroadcast(slot.id);
    const attempt = minedAttemptOf(slot);
    if (attempt.kind === "pay") await legOf(slot).orphaned(moment, attempt);
    tx.events.alarm("slot_unmined", factsOf(slot));
    return {
      state: "open",
      minedAttempt: undefined,
      minedBlockNumber: undefined,
      minedBlockHash: undefined,
      minedStatus: undefined,
      gasUsed: undefined,
      effectiveGasPrice: undefined,
    };
  });
}

/** The block of a mined attempt is final: a payment is done; anything else means the leg was not paid. */
export async function applyFinal(services: LegServices, seen: Slot): Promise<void> {
  const { kind } = minedAttemptOf(seen);
  if (kind === "noop")
    return applyDead(services, seen, seen.cancelReason ?? "TRANSACTION_NOT_INCLUDED", "given up");
  if (seen.minedStatus !== "success") return applyDead(services, seen, "TRANSACTION_REVERTED");
  await move(services, seen, "mined", async (moment) => {
    const { tx, slot } = moment;
    await tx.lanes.setFinal(slot.id, services.clock.nowMs());
    await legOf(slot).final(moment);
    tx.events.happened("slot_final", factsOf(slot));
    return { state: "final" };
  });
}

/** Nothing signed for the slot can pay its leg any more: only now may the leg be paid another way. */
export async function applyDead(
  services: LegServices,
  seen: Slot,
  reason: FailReason,
  why?: string,
): Promise<void> {
  await move(services, seen, seen.state, async (moment) => {
    const { tx, slot } = moment;
    await tx.lanes.setDead(slot.id, reason);
    await legOf(slot).dead(moment, reason);
    tx.events.alarm("slot_dead", { ...factsOf(slot), reason, why });
    return { state: "dead" };
  });
}

function minedAttemptOf({ id, attempts, minedAttempt }: Slot): Attempt {
  const attempt = attempts.find(({ n }) => n === minedAttempt);
  if (attempt === undefined)
    throw new Error(`invariant violated: slot ${id} is mined by an attempt that is not stored`);
  return attempt;
}

export function factsOf({ chainId, nonce, leg }: Slot) {
  return { chainId, nonce, leg: leg.kind, requestId: leg.requestId };
}
