import { decide, isFronted } from "@causeway/domain";
import type { Decision, Effect, FailReason, RequestEvent } from "@causeway/domain";
import type { Facts } from "../db/events.port.ts";
import type { DepositRecord, RequestRecord } from "../db/records.port.ts";
import type { OutboxEntry, RequestChange, Tx } from "../db/unit-of-work.port.ts";
import { applyHold, followSponsorship, type HoldServices } from "../balances/index.ts";

/** What applying an event needs: holds are moved in the same commit. */
export type TransitionServices = HoldServices;

export interface Transition {
  readonly decision: Decision;
  /** The request after the event. */
  readonly record: RequestRecord;
}

/**
 * Applies an event to a locked request: in one transaction saves the new state, applies the effects and adds
 * the event to the trace. A duplicate changes nothing; an impossible event changes nothing and raises an
 * alarm.
 */
export async function transition(
  services: TransitionServices,
  tx: Tx,
  record: RequestRecord,
  event: RequestEvent,
  change: Omit<RequestChange, "state"> = {},
  facts: Facts = {},
): Promise<Transition> {
  const { requestId } = record.terms;
  const decision = decide(record.state, event);
  if (decision.kind === "rejected") {
    tx.events.alarm("transition_rejected", { requestId, event: event.kind, reason: decision.reason });
    return { decision, record };
  }
  if (decision.kind === "already") return { decision, record };

  const atMs = services.clock.nowMs();
  await tx.requests.save(requestId, { ...change, state: decision.next }, atMs);
  for (const effect of decision.effects)
    await carryOut(services, tx, { ...record, state: decision.next }, effect, atMs);
  await followSponsorship(services, tx, record.terms, decision.next);
  await tx.requests.note(requestId, atMs, event.kind, {
    from: record.state.name,
    to: decision.next.name,
    ...facts,
  });
  const moved = { ...record, ...change, state: decision.next, updatedAtMs: atMs };
  return { decision, record: await resumeOwnDeposits(services, tx, record, moved) };
}

/**
 * During a fast fill, a wrong deposit by the request's own user is refunded separately, and a correct one
 * that oracles cannot attest is parked. When the fast fill fails, the request adopts them again: otherwise
 * its status would ask for a second deposit.
 */
async function resumeOwnDeposits(
  services: TransitionServices,
  tx: Tx,
  before: RequestRecord,
  moved: RequestRecord,
): Promise<RequestRecord> {
  if (!isFronted(before.state) || isFronted(moved.state)) return moved;
  const { requestId, origin, user } = moved.terms;
  let record = moved;
  for (const deposit of await tx.deposits.unattestableOf(requestId, origin.chainId))
    record = await resume(services, tx, record, deposit, "DEPOSIT_UNATTESTABLE");
  if (record.state.name !== "quoted") return record;
  const due = await tx.deposits.refundsDue(requestId, origin.chainId);
  const own = due.find(({ sender, reason }) => sender === user && reason !== undefined);
  return own?.reason === undefined ? record : await resume(services, tx, record, own, own.reason);
}

/**
 * Applies a deposit to its request as a mismatch. If the request already has one, it is refunded separately.
 */
async function resume(
  services: TransitionServices,
  tx: Tx,
  record: RequestRecord,
  { id: depositId, txHash }: DepositRecord,
  reason: FailReason,
): Promise<RequestRecord> {
  const verdict = { kind: "mismatch", reason, byUser: true } as const;
  const seen = { kind: "depositSeen", depositId, verdict, confirmed: false, late: false } as const;
  const change = { inTxHashes: [...new Set([...record.inTxHashes, txHash])] };
  return (await transition(services, tx, record, seen, change)).record;
}

async function carryOut(
  services: TransitionServices,
  tx: Tx,
  record: RequestRecord,
  effect: Effect,
  atMs: number,
): Promise<void> {
  const { requestId } = record.terms;
  switch (effect.kind) {
    case "fill":
      return tx.outbox.add([fillJob(requestId, atMs)], atMs);
    case "acceptDeposit":
      return tx.deposits.setDisposition(effect.depositId, "accepted", undefined, requestId);
    case "refundDeposit":
      await tx.deposits.setDisposition(effect.depositId, "refund", effect.reason, requestId);
      return tx.outbox.add([refundJob(effect.depositId, atMs)], atMs);
    case "releaseHold":
    case "reinstateHold":
    case "debitHold":
    case "returnHold":
      return applyHold(services, tx, record.terms, record.state, effect);
    default:
      effect satisfies never;
  }
}

/**
 * The id contains the time because the queue ignores an id that it still remembers, and a later run must not
 * be ignored.
 */
export function fillJob(requestId: string, atMs: number): OutboxEntry {
  return { job: "fill", jobId: `fill-${requestId}-${atMs}`, payload: { requestId } };
}

export function refundJob(depositId: string, atMs: number): OutboxEntry {
  return { job: "refund", jobId: `refund-${depositId}-${atMs}`, payload: { depositId } };
}

export function sweepJob(sweepId: string, atMs: number): OutboxEntry {
  return { job: "sweep", jobId: `sweep-${sweepId}-${atMs}`, payload: { sweepId } };
}

export function executeJob(requestId: string, atMs: number): OutboxEntry {
  return { job: "execute", jobId: `execute-${requestId}-${atMs}`, payload: { requestId } };
}
