import { decide, isFronted, publicStatus, unreachable } from "@causeway/domain";
import type { Decision, Effect, FailReason, RequestEvent, RequestState } from "@causeway/domain";
import type { Facts } from "../db/events.port.ts";
import type { DepositRecord, RequestRecord } from "../db/records.port.ts";
import type { DepositOutcome, OutboxEntry, RequestChange, Tx } from "../db/unit-of-work.port.ts";
import { entersHistory } from "./history/history-entry.ts";
import { applyHold, settleSponsorship, type HoldEffect, type HoldServices } from "../balances/index.ts";

/** The services for applying an event; holds are moved in the same commit. */
export type TransitionServices = HoldServices;

/** An event for a locked request, and the data stored with it. */
export interface Move {
  readonly record: RequestRecord;
  readonly event: RequestEvent;
  readonly change?: Omit<RequestChange, "state">;
  /** For the trace. */
  readonly facts?: Facts;
}

export interface Transition {
  readonly decision: Decision;
  /** The request after the event. */
  readonly record: RequestRecord;
}

/** {@link transitionAll} for one request. */
export async function transition(
  services: TransitionServices,
  tx: Tx,
  record: RequestRecord,
  event: RequestEvent,
  change: Omit<RequestChange, "state"> = {},
  facts: Facts = {},
): Promise<Transition> {
  const [result] = await transitionAll(services, tx, [{ record, event, change, facts }]);
  if (result === undefined) throw new Error(`invariant violated: no transition of ${record.terms.requestId}`);
  return result;
}

/**
 * Applies one event to each of several locked requests: in one transaction saves the new states, applies the
 * effects and adds the events to the traces, all requests in the same few statements. A duplicate event
 * changes nothing. An impossible event changes nothing and raises an alarm.
 * @returns a transition per move, in the same order
 */
export async function transitionAll(
  services: TransitionServices,
  tx: Tx,
  moves: readonly Move[],
): Promise<Transition[]> {
  const decided = moves.map((move) => ({ ...move, decision: decideMove(tx, move) }));
  const atMs = services.clock.nowMs();
  const applied = decided.flatMap(({ decision, ...move }) =>
    decision.kind === "applied" ? [{ ...move, next: decision.next, effects: decision.effects }] : [],
  );
  if (applied.length > 0) await store(services, tx, applied, atMs);
  const transitions: Transition[] = [];
  for (const { decision, record, change } of decided) {
    if (decision.kind !== "applied") {
      transitions.push({ decision, record });
      continue;
    }
    const updated = { ...record, ...change, state: decision.next, updatedAtMs: atMs };
    transitions.push({ decision, record: await resumeOwnDeposits(services, tx, record, updated) });
  }
  return transitions;
}

function decideMove({ events }: Pick<Tx, "events">, { record, event }: Move): Decision {
  const decision = decide(record.state, event);
  const { requestId } = record.terms;
  if (decision.kind === "rejected")
    events.alarm("transition_rejected", { requestId, event: event.kind, reason: decision.reason });
  return decision;
}

interface Applied extends Move {
  readonly next: RequestState;
  readonly effects: readonly Effect[];
}

async function store(
  services: TransitionServices,
  tx: Tx,
  applied: readonly Applied[],
  atMs: number,
): Promise<void> {
  const requestIds = new Set(applied.map(({ record }) => record.terms.requestId));
  if (requestIds.size < applied.length)
    throw new Error("invariant violated: two events for one request decided on the same state");
  await tx.requests.saveAll(
    applied.map(({ record, change, next }) => ({
      ...change,
      requestId: record.terms.requestId,
      state: next,
      ...(entersHistory(record.state.name, next.name) && { enters: record.terms }),
      ...(isInternal(record.state, next) && { isInternal: true }),
    })),
    atMs,
  );
  const dispositions = applied.flatMap(dispositionsOf);
  if (dispositions.length > 0) await tx.deposits.setDispositions(dispositions);
  const jobs = applied.flatMap((move) => jobsOf(move, atMs));
  if (jobs.length > 0) await tx.outbox.add(jobs, atMs);
  // Wallets are locked after everything else.
  for (const { record, next, effects } of applied) {
    for (const effect of effects)
      if (isHoldEffect(effect)) await applyHold(services, tx, record.terms, next, effect);
    await settleSponsorship(services, tx, record.terms, next);
  }
  await tx.requests.noteAll(
    applied.map(({ record, event, next, facts }) => ({
      requestId: record.terms.requestId,
      event: event.kind,
      detail: { from: record.state.name, to: next.name, ...facts },
    })),
    atMs,
  );
}

/** Whether only the state's name changes and the public status stays `pending`: clients see no difference. */
function isInternal(from: RequestState, to: RequestState): boolean {
  return (
    publicStatus(from) === "pending" &&
    publicStatus(to) === "pending" &&
    from.depositId === to.depositId &&
    from.front === to.front &&
    from.final === to.final &&
    from.failReason === to.failReason &&
    from.refundFailReason === to.refundFailReason
  );
}

/** The outcome of the deposits named by the effects. */
function dispositionsOf({ record, effects }: Applied): DepositOutcome[] {
  const { requestId } = record.terms;
  return effects.flatMap((effect): DepositOutcome[] => {
    if (effect.kind === "acceptDeposit")
      return [{ id: effect.depositId, disposition: "accepted", requestId }];
    if (effect.kind === "refundDeposit")
      return [{ id: effect.depositId, disposition: "refund", reason: effect.reason, requestId }];
    return [];
  });
}

function jobsOf({ record, effects }: Applied, atMs: number): OutboxEntry[] {
  return effects.flatMap((effect): OutboxEntry[] => {
    if (effect.kind === "fill") return [fillJob(record.terms.requestId, atMs)];
    if (effect.kind === "refundDeposit") return [refundJob(effect.depositId, atMs)];
    return [];
  });
}

function isHoldEffect(effect: Effect): effect is HoldEffect {
  switch (effect.kind) {
    case "releaseHold":
    case "reinstateHold":
    case "debitHold":
    case "returnHold":
      return true;
    case "fill":
    case "acceptDeposit":
    case "refundDeposit":
      return false;
    default:
      return unreachable(effect);
  }
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
  after: RequestRecord,
): Promise<RequestRecord> {
  if (!isFronted(before.state) || isFronted(after.state)) return after;
  const { requestId, origin, user } = after.terms;
  let record = after;
  for (const deposit of await tx.deposits.unattestableOf(requestId, origin.chainId))
    record = await resume(services, tx, record, deposit, "DEPOSIT_UNATTESTABLE");
  if (record.state.name !== "quoted") return record;
  const refundsDue = await tx.deposits.refundsDue(requestId, origin.chainId);
  const ownRefund = refundsDue.find(({ sender, reason }) => sender === user && reason !== undefined);
  return ownRefund?.reason === undefined
    ? record
    : await resume(services, tx, record, ownRefund, ownRefund.reason);
}

/**
 * Applies a deposit to its request as a mismatch. If the request already has a deposit, this one is refunded
 * separately.
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

/**
 * The id contains the time because the queue ignores ids that it still remembers, and a later run must not be
 * ignored.
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
