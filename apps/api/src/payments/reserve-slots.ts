import type { RequestId } from "@causeway/domain";
import type { Attempt, RequestRecord, Slot, SlotPlan } from "../db/records.port.ts";
import { awaitTogether } from "../db/await-together.ts";
import type { WorkerServices } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import type { PaymentKind } from "./legs/leg-kind.ts";
import type { Outcome, WantedPayment } from "./wanted-payment.port.ts";
import { covers, reservedFor, type Reserved } from "./payers/lane-funds.ts";
import { admit, countReserved } from "./policy/admit-payments.ts";
import type { LaneFunds } from "./payers/funds.port.ts";
import type { Payer } from "./payers/payer.ts";
import type { Standing } from "./policy/policy.port.ts";
import { asError, togetherOrAlone } from "../db/together-or-alone.ts";

/**
 * After this time a payment is checked again. A failover of the database can lose the payment of a leg; the
 * checks find it on the chain, and a lane is closed only for a while after a failover (`SETTLE_MS`).
 */
const MAX_AGE_MS = 20_000;

/** A larger batch is signed after its commit, which locks the lane. */
const MAX_SIGNED = 20;

/** The lane's inventory, and how its payments are signed. */
export type ReservingPayer = Pick<Payer, "funds" | "signNew">;

/**
 * Reserves slots of one lane for payments of one kind in one commit, and signs them in it if the payer can.
 * Nothing is broadcast before it. If it fails, each payment is tried
 * alone, so that one payment cannot fail another.
 * @returns the outcome of each, in order; an error concerns that one alone, and a retry finds its slot
 */
export async function reserve(
  services: WorkerServices,
  payer: ReservingPayer,
  kind: PaymentKind,
  wanted: readonly WantedPayment[],
): Promise<ReadonlyArray<Outcome | Error>> {
  const outcomes = new Map<WantedPayment, Outcome | Error>();
  let failure: Error | undefined;
  const errors = await togetherOrAlone(wanted, async (some) => {
    const reserved = await reserveTogether(services, payer, kind, some).catch((error: unknown) => {
      if (!(error instanceof RolledBack)) failure ??= asError(error);
      throw error;
    });
    for (const [at, one] of some.entries()) {
      const outcome = reserved[at] ?? MOVED;
      // A common commit that failed may have succeeded, its answer lost: a retry continues with its slot.
      outcomes.set(one, outcome.kind === "moved" ? (failure ?? outcome) : outcome);
    }
  });
  return wanted.map((one) => {
    const error = errors.get(one);
    return (error && (kind.refusalOf?.(error) ?? error)) ?? outcomes.get(one) ?? MOVED;
  });
}

const MOVED = { kind: "moved" } as const;

/** Rolls back a commit that reserves no slot even though its leg may have taken something. */
class RolledBack extends Error {}

async function reserveTogether(
  services: WorkerServices,
  { funds, signNew }: ReservingPayer,
  kind: PaymentKind,
  wanted: readonly WantedPayment[],
): Promise<readonly Outcome[]> {
  const alone: { outcome?: Outcome | undefined } = {};
  try {
    return await services.uow.run(async (tx) => {
      // A deadlock victim runs again.
      alone.outcome = undefined;
      // Locks in the same order everywhere: requests, legs, lane.
      const { requests, lane } = await lockRequests(tx, funds, kind, wanted);
      const verdicts = await kind.lock(services, tx, wanted, requests);
      const outcomes = new Map<string, Outcome>();
      const due = wanted.filter(({ plan }, at) => {
        const verdict = verdicts[at] ?? "moved";
        if (typeof verdict !== "string") outcomes.set(plan.leg.id, verdict);
        return verdict === "due";
      });
      if (due.length > 0) {
        const { known, standing } = lane ?? (await lockLane(tx, funds));
        const covered = await coveredOf(covers(tx, funds, known), due, outcomes);
        const plans = [...covered.values()].map(({ plan }) => plan);
        const { admitted, held } = await admit(services, tx, plans, requests, standing);
        for (const [id, one] of held) outcomes.set(id, one);
        const slots = await tx.lanes.reserve(
          admitted.map(({ plan }) => plan),
          services.clock.nowMs(),
        );
        await countReserved(tx, admitted, slots);
        const taken = slots.flatMap((slot) => {
          const one = covered.get(slot.leg.id);
          if (one === undefined) return [];
          outcomes.set(slot.leg.id, { kind: "reserved", slot });
          const { requestId } = slot.leg;
          return { wanted: one, slot, request: requestId && requests.get(requestId) };
        });
        if (taken.length > 0) alone.outcome = await kind.taken?.(services, tx, taken);
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
  readonly known?: readonly Reserved[];
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
  { together }: PaymentKind,
  wanted: readonly WantedPayment[],
): Promise<{ readonly requests: Map<RequestId, RequestRecord>; readonly lane?: LockedLane }> {
  const plans = wanted.map(({ plan }) => plan);
  const requests = tx.requests.lockAll(plans.flatMap(({ leg }) => leg.requestId ?? []));
  const [first] = plans;
  if (
    first === undefined ||
    together?.locksOnlyRequests !== true ||
    !wanted.every((one) => together.has(one))
  )
    return { requests: await requests };
  const ids = plans.map(({ leg }) => leg.id);
  const [records, , known, standing] = await awaitTogether([
    requests,
    tx.lanes.lockLane(funds.chainId, funds.sender),
    reservedFor(tx, funds, plans),
    tx.policy.standing(first.leg.kind, ids),
  ]);
  return { requests: records, lane: { known, standing } };
}

/** Those that the payer can pay one after another, by leg. Call with the lane locked. */
async function coveredOf(
  take: (plan: SlotPlan) => Promise<boolean>,
  due: readonly WantedPayment[],
  outcomes: Map<string, Outcome>,
): Promise<ReadonlyMap<string, WantedPayment>> {
  // The wait for the lane counts too.
  const oldestMs = performance.now() - MAX_AGE_MS;
  const covered = new Map<string, WantedPayment>();
  for (const one of due) {
    const { id } = one.plan.leg;
    // A job that runs twice requests the same payment twice.
    if (covered.has(id)) continue;
    if (one.checkedAtMs !== undefined && one.checkedAtMs < oldestMs) outcomes.set(id, { kind: "late" });
    else if (await take(one.plan)) covered.set(id, one);
    else outcomes.set(id, { kind: "short" });
  }
  return covered;
}
