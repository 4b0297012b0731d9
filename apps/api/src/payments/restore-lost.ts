import type { Hex } from "@causeway/domain";
import type { WorkerServices } from "../db/services.port.ts";
import type { LaneState } from "../db/reads.port.ts";
import type { Slot } from "../db/records.port.ts";
import { whyForged, whyMismatched, capTimes } from "./judge-journal-entry.ts";
import { completeJournal } from "./complete-journal.ts";
import { kindOf } from "./legs/index.ts";
import type { JournalEntry } from "./payment-journal.port.ts";
import type { Lane } from "./payers/payer.ts";
import { countRestored } from "./policy/admit-payments.ts";
import { noteHeldSince, mayBeRestored } from "./lost-payment-grace.ts";

/**
 * Reads the mark of a lane. Call before its row is read: then the mark is ahead of the row only if rows were
 * lost.
 * @returns undefined if the journal does not answer, or this process is connected to a former primary: the
 * lane must stay as it is, while everything else continues
 */
export async function readMark(
  { journal, events, reads }: Pick<WorkerServices, "journal" | "events" | "reads">,
  { chainId, sender }: Lane,
): Promise<{ readonly mark: number | undefined } | undefined> {
  if (journal === undefined) return { mark: undefined };
  // Identifies the database server first, so that `mark` can fence off former primaries.
  await reads.lane(chainId, sender);
  try {
    return { mark: await journal.mark(chainId, sender) };
  } catch (error) {
    events.fault("journal_fault", error, { chainId, sender });
    return undefined;
  }
}

/**
 * Opens a lane that has lost nothing, and adds to the journal the lane and the entries that the journal has
 * lost.
 * @param lane as read before; an open lane is not written again in each round
 * @param nonce the first one that the chain has not used
 */
export async function openReconciled(
  services: Pick<WorkerServices, "uow" | "reads" | "journal" | "events" | "chains">,
  { chainId, sender }: Lane,
  lane: LaneState | undefined,
  nonce: number,
  mark: number | undefined,
): Promise<void> {
  if (lane?.isOpen !== true || nonce > lane.nextNonce)
    await services.uow.run((tx) => tx.lanes.open(chainId, sender, nonce));
  await completeJournal(services, { chainId, sender }, mark);
}

/** The result of restoring the payments of a lane that the database has lost. */
export type LostPayments =
  /**
   * The rows of every payment in the journal are stored. `mark`: see `PaymentJournal`. `lane`: as read, since
   * nothing was written; undefined: read it again.
   */
  | { readonly kind: "complete"; readonly mark: number | undefined; readonly lane: LaneState | undefined }
  | { readonly kind: "later"; readonly why: string };

/**
 * Restores the rows of payments that the journal knows and the database has lost, in the order of their
 * nonces. Holds the lane first. Idempotent; may run in any number of processes.
 * @param mark of the lane, read before `state`
 * @param whyGapRemains why the lane must not move past nonces from `from` to below `to`, of which the
 * database and the journal have neither the first nor the last; undefined: it may
 */
export async function restoreLost(
  services: WorkerServices,
  lane: Lane,
  state: LaneState,
  mark: number | undefined,
  whyGapRemains: (from: number, to: number) => Promise<string | undefined> | string | undefined,
): Promise<LostPayments> {
  const { journal, reads, uow } = services;
  const isBehind = mark !== undefined && mark > state.nextNonce;
  if (journal === undefined || mark === undefined || (state.isReconciled && !isBehind))
    return { kind: "complete", mark, lane: state };
  // The server may be the same: a restored snapshot of its disk.
  if (state.isReconciled) await uow.run((tx) => tx.lanes.hold(lane.chainId, lane.sender));
  const nowMs = services.clock.nowMs();
  const entries = (await journal.entries(lane.chainId, lane.sender)).map((entry) => capTimes(entry, nowMs));
  const [lowest] = entries;
  if (lowest === undefined) return { kind: "complete", mark, lane: undefined };
  const from = Math.min(lowest.nonce, state.nextNonce);
  const slots = await reads.slotsFrom(lane.chainId, lane.sender, from);
  const byNonce = new Map(slots.map((slot) => [slot.nonce, slot]));
  let sinceMs: number | undefined;
  let next = state.nextNonce;
  for (const entry of entries) {
    const gap = gapIn(byNonce, next, entry.nonce);
    const whyHeld = gap && (await whyGapRemains(gap.from, gap.to));
    if (whyHeld !== undefined) return { kind: "later", why: whyHeld };
    next = Math.max(next, entry.nonce + 1);
    sinceMs ??= await noteHeldSince(services, lane, state);
    const stored = byNonce.get(entry.nonce);
    const isKnown =
      stored === undefined
        ? entry.nonce < state.nextNonce
        : stored.state !== "open" && stored.leg.id === entry.plan.leg.id;
    if (isKnown) continue;
    const forgery = await whyForged(services, lane, entry);
    if (forgery !== undefined) return refuseEntry(services, lane, entry, forgery);
    if (stored === undefined) {
      const why = await restorePayment(services, entry, sinceMs);
      if (why !== undefined) return { kind: "later", why };
    } else if (stored.leg.id !== entry.plan.leg.id) {
      return { kind: "later", why: whyReassigned(entry) };
    } else if (!(await restoreBytes(services, stored, entry))) {
      return { kind: "later", why: `bytes of nonce ${entry.nonce} are being restored` };
    }
  }
  return { kind: "complete", mark, lane: undefined };
}

/** The nonces from `from` to below `to`, reduced to those from the first to the last without a slot. */
function gapIn(
  byNonce: ReadonlyMap<number, Slot>,
  from: number,
  to: number,
): { readonly from: number; readonly to: number } | undefined {
  let [first, last] = [from, to];
  while (first < last && byNonce.has(first)) first += 1;
  while (first < last && byNonce.has(last - 1)) last -= 1;
  return first < last ? { from: first, to: last } : undefined;
}

/**
 * Stores bytes that an open slot has lost, even if it is canceled: their replacement must have higher fees.
 * @returns whether the slot has all bytes now; otherwise it ended, or another process stores them
 */
async function restoreBytes({ uow }: WorkerServices, slot: Slot, entry: JournalEntry): Promise<boolean> {
  const knownBytes = new Set<string>(slot.attempts.flatMap(({ txHash, raw }) => [txHash, raw]));
  const missing = entry.attempts
    .filter(({ txHash, raw }) => !knownBytes.has(txHash) && !knownBytes.has(raw))
    .map((attempt, index) => ({ slotId: slot.id, attempt: { ...attempt, n: slot.attempts.length + index } }));
  if (missing.length === 0) return true;
  return (await uow.run((tx) => tx.lanes.restoreAttempts(missing))).has(slot.id);
}

/** Keeps the lane held: a forged entry may have replaced that of another lost payment. */
function refuseEntry(
  { events, chains }: Pick<WorkerServices, "events" | "chains">,
  { chainId, sender }: Lane,
  { nonce, plan: { leg } }: JournalEntry,
  reason: string,
): LostPayments {
  const chain = chains.profile(chainId)?.name;
  events.alarm("journal_entry_refused", { chain, sender, nonce, leg: leg.kind, legId: leg.id, reason });
  return { kind: "later", why: `the journal's entry for nonce ${nonce} was refused: ${reason}` };
}

/** @returns why the payment cannot be attributed to its leg yet; undefined: done */
async function restorePayment(
  services: WorkerServices,
  entry: JournalEntry,
  heldSinceMs: number,
): Promise<string | undefined> {
  const { uow, clock, chains } = services;
  const { plan, nonce, attempts } = entry;
  const { leg, chainId, sender } = plan;
  const kind = kindOf(plan);
  const nowMs = clock.nowMs();
  const newest = attempts.at(-1);
  if (newest === undefined) return undefined;
  const facts = { chain: chains.profile(chainId)?.name, sender, nonce, leg: leg.kind, txHash: newest.txHash };
  return await uow.run(async (tx) => {
    const record = leg.requestId && (await tx.requests.lock(leg.requestId));
    const mismatch = await whyMismatched(services, tx, plan, record);
    if (mismatch !== undefined) {
      tx.events.alarm("journal_entry_refused", { ...facts, legId: leg.id, reason: mismatch });
      return `the journal's entry for nonce ${nonce} was refused: ${mismatch}`;
    }
    // An earlier payment of the leg is not known to be dead yet.
    const verdict = (await tx.lanes.hasLiveSlot(leg))
      ? "later"
      : ((await kind.restored?.(services, tx, entry, record)) ?? "lost");
    if (verdict === "later" && (await mayBeRestored(services, entry, record, heldSinceMs)))
      return `the ${leg.kind} with nonce ${nonce} will be restored once ${leg.requestId === undefined ? "its own row" : `request ${leg.requestId}`} can accept it`;
    if (verdict !== "restored") {
      // The nonce pays nothing else, and the leg is never paid again.
      const isHarmless = kind.restored === undefined || kind.isIdempotent === true;
      const pays = isHarmless ? undefined : (leg.requestId ?? leg.id);
      await tx.lanes.skip(chainId, sender, nonce, {
        txHash: newest.txHash,
        pays,
        inputEnd: isHarmless ? undefined : inputEndOf(plan.call.data),
      });
      if (pays !== undefined) tx.events.alarm("payment_unrecorded", { ...facts, requestId: pays });
      return undefined;
    }
    const slot = await tx.lanes.restore(entry, nowMs);
    if (slot === undefined) return undefined;
    await tx.lanes.setBroadcasts(
      attempts.map((_, n) => ({ slotId: slot.id, n })),
      entry.atMs,
    );
    await countRestored(services, tx, slot, { atMs: entry.atMs, request: record });
    if (newest.kind === "pay") {
      const isId = chains.nonEvm(chainId)?.connection.hasLateTransactionIds !== true;
      await kind.broadcast?.(services, tx, [{ slot, attempt: newest }], { atMs: entry.atMs, isId });
    }
    tx.events.alarm("payment_restored", { ...facts, requestId: leg.requestId });
    return undefined;
  });
}

function whyReassigned({ nonce, plan: { leg } }: JournalEntry): string {
  return `nonce ${nonce} was reassigned after the database lost the ${leg.kind} of ${leg.requestId ?? leg.id} that had used it: restore the row of that payment`;
}

/** The last 32 bytes of the input, where payments name their order. On non-EVM chains, it has only these. */
function inputEndOf(data: Hex): Hex | undefined {
  return data.length >= 66 ? `0x${data.slice(-64)}` : undefined;
}
