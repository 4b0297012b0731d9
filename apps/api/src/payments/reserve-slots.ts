import type { RequestId } from "@causeway/domain";
import type { Attempt, RequestRecord, Slot, SlotPlan } from "../db/records.port.ts";
import { awaitTogether } from "../db/await-together.ts";
import type { WorkerServices } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import type { PaymentKind } from "./legs/leg-kind.ts";
import type { ReservationOutcome, WantedPayment } from "./wanted-payment.port.ts";
import { covers, reservedFor, type Reserved } from "./payers/lane-funds.ts";
import { admit, countReserved } from "./policy/admit-payments.ts";
import type { LaneFunds } from "./payers/funds.port.ts";
import type { Payer } from "./payers/payer.ts";
import type { Standing } from "./policy/policy.port.ts";
import { asError, togetherOrAlone } from "../db/together-or-alone.ts";

/**
 * After this time (ms) a payment is checked again. A failover of the database can lose the payment of a leg;
 * the checks find it on the chain, and a lane is closed only for a while after a failover (`SETTLE_MS`).
 */
const MAX_AGE_MS = 20_000;

/** A larger batch is signed after its commit, which locks the lane. */
const MAX_SIGNED = 20;

/** The lane's inventory, and how its payments are signed. */
export type ReservingPayer = Pick<Payer, "funds" | "signNew">;

/**
 * Reserves slots of one lane for payments of one kind in one commit, and signs them in it if the payer can.
 * Nothing is broadcast before the commit. If the commit fails, each payment is tried alone, so that one
 * payment cannot fail another.
 * @returns the outcome of each payment, in order; an error concerns that payment alone, and a retry finds its
 * slot
 */
export async function reserve(
  services: WorkerServices,
  payer: ReservingPayer,
  kind: PaymentKind,
  wanted: readonly WantedPayment[],
): Promise<ReadonlyArray<ReservationOutcome | Error>> {
  const outcomes = new Map<WantedPayment, ReservationOutcome | Error>();
  let failure: Error | undefined;
  const errors = await togetherOrAlone(wanted, async (batch) => {
    const reserved = await reserveTogether(services, payer, kind, batch).catch((error: unknown) => {
      if (!(error instanceof RolledBack)) failure ??= asError(error);
      throw error;
    });
    for (const [index, payment] of batch.entries()) {
      const outcome = reserved[index] ?? MOVED;
      // The shared commit may have succeeded although it reported a failure: a retry continues with its slot.
      outcomes.set(payment, outcome.kind === "moved" ? (failure ?? outcome) : outcome);
    }
  });
  return wanted.map((payment) => {
    const error = errors.get(payment);
    return (error && (kind.refusalOf?.(error) ?? error)) ?? outcomes.get(payment) ?? MOVED;
  });
}

const MOVED = { kind: "moved" } as const;

/** Rolls back a commit that reserves no slot even though its leg may have written something. */
class RolledBack extends Error {}

async function reserveTogether(
  services: WorkerServices,
  { funds, signNew }: ReservingPayer,
  kind: PaymentKind,
  wanted: readonly WantedPayment[],
): Promise<readonly ReservationOutcome[]> {
  const alone: { outcome?: ReservationOutcome | undefined } = {};
  try {
    return await services.uow.run(async (tx) => {
      // The transaction may run again, after a deadlock.
      alone.outcome = undefined;
      // Locks in the same order everywhere: requests, legs, lane.
      const { requests, lane } = await lockRequests(tx, funds, kind, wanted);
      const verdicts = await kind.lock(services, tx, wanted, requests);
      const outcomes = new Map<string, ReservationOutcome>();
      const due = wanted.filter(({ plan }, index) => {
        const verdict = verdicts[index] ?? "moved";
        if (typeof verdict !== "string") outcomes.set(plan.leg.id, verdict);
        return verdict === "due";
      });
      if (due.length > 0) {
        const { reservedRows, standing } = lane ?? (await lockLane(tx, funds));
        const covered = await selectCovered(covers(tx, funds, reservedRows), due, outcomes);
        const plans = [...covered.values()].map(({ plan }) => plan);
        const { admitted, held } = await admit(services, tx, plans, requests, standing);
        for (const [id, hold] of held) outcomes.set(id, hold);
        const slots = await tx.lanes.reserve(
          admitted.map(({ plan }) => plan),
          services.clock.nowMs(),
        );
        await countReserved(tx, admitted, slots);
        const reserved = slots.flatMap((slot) => {
          const payment = covered.get(slot.leg.id);
          if (payment === undefined) return [];
          outcomes.set(slot.leg.id, { kind: "reserved", slot });
          const { requestId } = slot.leg;
          return { wanted: payment, slot, request: requestId && requests.get(requestId) };
        });
        if (reserved.length > 0) alone.outcome = await kind.reserved?.(services, tx, reserved);
        // The leg's reservation in this commit must not apply to the slot that already pays it.
        else if (admitted.length > 0 && wanted.length === 1) alone.outcome = MOVED;
        if (alone.outcome !== undefined) throw new RolledBack();
        const signed =
          signNew && slots.length <= MAX_SIGNED ? await signNew(slots) : new Map<string, Attempt>();
        for (const slot of await storeSigned(tx, slots, signed))
          outcomes.set(slot.leg.id, { kind: "reserved", slot });
      }
      return wanted.map(({ plan }) => outcomes.get(plan.leg.id) ?? MOVED);
    });
  } catch (error) {
    if (!(error instanceof RolledBack) || alone.outcome === undefined || wanted.length > 1) throw error;
    return [alone.outcome];
  }
}

/** Stores bytes in the commit of their slots, so that they are never broadcast without being stored. */
async function storeSigned(
  tx: Tx,
  slots: readonly Slot[],
  signed: ReadonlyMap<string, Attempt>,
): Promise<readonly Slot[]> {
  if (signed.size === 0) return [];
  const stored = await tx.lanes.addAttempts([...signed].map(([slotId, attempt]) => ({ slotId, attempt })));
  return slots.flatMap((slot) => {
    const attempt = signed.get(slot.id);
    return attempt !== undefined && stored.has(slot.id) ? { ...slot, attempts: [attempt] } : [];
  });
}

/** Facts read with the lane locked. Undefined: not read yet. */
interface LockedLane {
  readonly reservedRows?: readonly Reserved[];
  readonly standing?: Standing;
}

async function lockLane(tx: Tx, { chainId, sender }: LaneFunds): Promise<LockedLane> {
  await tx.lanes.lockLane(chainId, sender);
  return {};
}

/**
 * Locks the requests. If nothing is to be locked between them and the lane, also locks the lane and reads
 * the facts that decide the payments, in one round trip.
 */
async function lockRequests(
  tx: Tx,
  funds: LaneFunds,
  { batching }: PaymentKind,
  wanted: readonly WantedPayment[],
): Promise<{ readonly requests: Map<RequestId, RequestRecord>; readonly lane?: LockedLane }> {
  const plans = wanted.map(({ plan }) => plan);
  const requests = tx.requests.lockAll(plans.flatMap(({ leg }) => leg.requestId ?? []));
  const [first] = plans;
  if (
    first === undefined ||
    batching?.locksOnlyRequests !== true ||
    !wanted.every((payment) => batching.canBatch(payment))
  )
    return { requests: await requests };
  const ids = plans.map(({ leg }) => leg.id);
  const [records, , reservedRows, standing] = await awaitTogether([
    requests,
    tx.lanes.lockLane(funds.chainId, funds.sender),
    reservedFor(tx, funds, plans),
    tx.policy.standing(first.leg.kind, ids),
  ]);
  return { requests: records, lane: { reservedRows, standing } };
}

/** Selects the payments that the payer can make one after another, by leg. Call with the lane locked. */
async function selectCovered(
  reserveFunds: (plan: SlotPlan) => Promise<boolean>,
  due: readonly WantedPayment[],
  outcomes: Map<string, ReservationOutcome>,
): Promise<ReadonlyMap<string, WantedPayment>> {
  // The wait for the lane counts too.
  const oldestMs = performance.now() - MAX_AGE_MS;
  const covered = new Map<string, WantedPayment>();
  for (const payment of due) {
    const { id } = payment.plan.leg;
    // A job that runs twice requests the same payment twice.
    if (covered.has(id)) continue;
    if (payment.checkedAtMs !== undefined && payment.checkedAtMs < oldestMs)
      outcomes.set(id, { kind: "late" });
    else if (await reserveFunds(payment.plan)) covered.set(id, payment);
    else outcomes.set(id, { kind: "insufficientFunds" });
  }
  return covered;
}
