import type { ReceiptFact } from "@causeway/chains";
import type { RequestId } from "@causeway/domain";
import { keccak256 } from "viem";
import type { Attempt, RequestRecord, Slot } from "../db/records.port.ts";
import type { WorkerServices } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { kindOf } from "./legs/index.ts";
import type { LegContext, MinedLeg } from "./legs/leg-kind.ts";
import type { Move } from "./next-move.ts";
import { hasDailyLimit } from "./policy/daily-limit.ts";
import { isSignedNoop, isSignedPayment } from "./policy/signed-payment.ts";
import { factsOf } from "./slot-facts.ts";
import { togetherOrAlone } from "../db/together-or-alone.ts";

/** A move that the chain decided. */
export type Outcome = Extract<Move, { readonly kind: "mined" | "orphaned" | "final" | "dead" }>;

export interface DecidedOutcome {
  /** The slot as read when the outcome was decided. */
  readonly slot: Slot;
  readonly outcome: Outcome;
}

/** Maximum outcomes per commit, which holds the locks of all of them. */
const MAX_PER_COMMIT = 100;

/** Single-outcome commits at the same time: each takes a connection, and some wait for the same wallet. */
const SINGLE_COMMITS_AT_ONCE = 4;

/**
 * Moves slots and their legs, and raises the events, in as few commits as possible. Skips a slot that changed
 * since it was read: its outcome may no longer apply, and the next pass reads it again.
 * @returns the moved slots, and the errors of those that could not be moved
 */
export async function applyAll(
  services: WorkerServices,
  decided: readonly DecidedOutcome[],
): Promise<ReadonlyMap<string, Slot | Error>> {
  const results = new Map<string, Slot | Error>();
  const shared = decided.filter(isShareable);
  const alone = new Set(decided.filter((outcome) => !isShareable(outcome)));
  const apply = async (batch: readonly DecidedOutcome[]): Promise<void> => {
    const { moved, deferred } = await applyInOneCommit(services, batch);
    for (const slot of moved) results.set(slot.id, slot);
    for (const outcome of deferred) alone.add(outcome);
  };
  for (let start = 0; start < shared.length; start += MAX_PER_COMMIT) {
    const errors = await togetherOrAlone(shared.slice(start, start + MAX_PER_COMMIT), apply);
    for (const [{ slot }, error] of errors) results.set(slot.id, error);
  }
  const queue = alone.values();
  await Promise.all(
    Array.from({ length: SINGLE_COMMITS_AT_ONCE }, async () => {
      for (const outcome of queue)
        for (const [{ slot }, error] of await togetherOrAlone([outcome], apply)) results.set(slot.id, error);
    }),
  );
  return results;
}

function isShareable({ slot, outcome }: DecidedOutcome): boolean {
  return kindOf(slot).batchedOutcomes !== undefined && (outcome.kind === "mined" || outcome.kind === "final");
}

/** Whether outcomes of the request lock no wallet. A shared commit would lock wallets in no fixed order. */
function locksNoWallet({ state, terms }: RequestRecord): boolean {
  const { sponsorship, appFees, outputCalls } = terms;
  return state.front === "none" && !sponsorship && !appFees && !outputCalls;
}

async function applyInOneCommit(
  services: WorkerServices,
  decided: readonly DecidedOutcome[],
): Promise<{ readonly moved: readonly Slot[]; readonly deferred: readonly DecidedOutcome[] }> {
  return await services.uow.run(async (tx) => {
    const requestIds = decided.flatMap(({ slot }) => slot.leg.requestId ?? []);
    const records =
      requestIds.length === 0 ? new Map<RequestId, RequestRecord>() : await tx.requests.lockAll(requestIds);
    const current = await tx.lanes.lockSlots(decided.map(({ slot }) => slot.id));
    const locked: LockedOutcome[] = [];
    const deferred: DecidedOutcome[] = [];
    for (const read of decided) {
      const slot = current.get(read.slot.id);
      if (slot === undefined || !isUnchanged(read.slot, slot)) continue;
      const record = slot.leg.requestId && records.get(slot.leg.requestId);
      if (decided.length > 1 && (record === undefined || !locksNoWallet(record))) deferred.push(read);
      else locked.push({ context: { services, tx, slot, record }, outcome: read.outcome });
    }
    return { moved: await apply(services, tx, locked), deferred };
  });
}

/** A slot of this commit, locked and unchanged. */
interface LockedOutcome<O extends Outcome = Outcome> {
  readonly context: LegContext;
  readonly outcome: O;
}
type OutcomeOf<K extends Outcome["kind"]> = Extract<Outcome, { readonly kind: K }>;

/** @returns the slots as they are now */
async function apply(services: WorkerServices, tx: Tx, locked: readonly LockedOutcome[]): Promise<Slot[]> {
  const ofKind = <K extends Outcome["kind"]>(kind: K): LockedOutcome<OutcomeOf<K>>[] =>
    locked.flatMap(({ context, outcome }) =>
      outcome.kind === kind ? [{ context, outcome: outcome as OutcomeOf<K> }] : [],
    );
  const moved = [
    ...(await applyMined(services, tx, ofKind("mined"))),
    ...(await applyFinal(services, tx, ofKind("final"))),
  ];
  for (const { context } of ofKind("orphaned")) moved.push(await applyOrphaned(context));
  for (const { context, outcome } of ofKind("dead")) moved.push(await applyDead(context, outcome));
  return moved;
}

function isUnchanged(seen: Slot, slot: Slot): boolean {
  return (
    slot.state === seen.state &&
    slot.minedAttempt === seen.minedAttempt &&
    slot.minedBlockHash === seen.minedBlockHash &&
    slot.minedStatus === seen.minedStatus &&
    // Attempts are only added. One that was signed since the read may still pay.
    slot.attempts.length === seen.attempts.length
  );
}

async function applyOrphaned(context: LegContext): Promise<Slot> {
  const { services, tx, slot } = context;
  await tx.lanes.setOpen(slot.id);
  services.spentMemory?.noteUnpaid(slot, false);
  // The same bytes are broadcast again immediately; they can pay only once.
  await tx.lanes.forgetBroadcasts([slot.id]);
  const attempt = minedAttemptOf(slot);
  if (attempt.kind === "pay") await kindOf(slot).orphaned(context, attempt);
  tx.events.alarm("slot_unmined", factsOf(slot));
  return { ...slot, ...NOT_MINED };
}

async function applyFinal(
  services: WorkerServices,
  tx: Tx,
  locked: ReadonlyArray<LockedOutcome<OutcomeOf<"final">>>,
): Promise<Slot[]> {
  if (locked.length === 0) return [];
  const legs = locked.map(({ context }) => context);
  const ids = legs.map(({ slot }) => slot.id);
  await tx.lanes.setFinal(ids, services.clock.nowMs());
  if (hasDailyLimit(services)) await tx.policy.keepSpending(ids);
  for (const [kind, ofKind] of Map.groupBy(legs, ({ slot }) => kindOf(slot))) {
    if (ofKind.length > 1 && kind.batchedOutcomes) await kind.batchedOutcomes.final(services, tx, ofKind);
    else for (const leg of ofKind) await kind.final(leg);
  }
  for (const { slot } of legs) tx.events.happened("slot_final", factsOf(slot));
  return legs.map(({ slot }) => ({ ...slot, state: "final" }));
}

async function applyDead(context: LegContext, { reason, why }: OutcomeOf<"dead">): Promise<Slot> {
  const { services, tx, slot } = context;
  // Only now may the leg be paid another way.
  await tx.lanes.setDead(slot.id, reason);
  // The slot did not pay, so the daily limit no longer counts it.
  if (hasDailyLimit(services)) {
    await tx.policy.releaseSpending(slot.id);
    services.spentMemory?.release(slot);
  }
  // The leg is planned again or ends another way: only a new plan can be held.
  await tx.policy.release(slot.leg.kind, [slot.leg.id]);
  await kindOf(slot).dead(context, reason);
  tx.events.alarm("slot_dead", { ...factsOf(slot), reason, why });
  return { ...slot, state: "dead" };
}

const NOT_MINED = {
  state: "open",
  minedAttempt: undefined,
  minedBlockNumber: undefined,
  minedBlockHash: undefined,
  minedStatus: undefined,
  gasUsed: undefined,
  effectiveGasPrice: undefined,
} as const;

async function applyMined(
  services: WorkerServices,
  tx: Tx,
  locked: ReadonlyArray<LockedOutcome<OutcomeOf<"mined">>>,
): Promise<Slot[]> {
  if (locked.length === 0) return [];
  const legs = locked.map(({ context, outcome: { attempt, receipt } }): MinedLeg => {
    // The chain may assign a transaction id that the signer could not know.
    return { ...context, attempt: { ...attempt, txHash: receipt.txHash }, receipt };
  });
  for (const [index, { slot, attempt, receipt }] of legs.entries()) {
    if (locked[index]?.outcome.attempt.txHash !== attempt.txHash)
      await tx.lanes.renameAttempt(slot.id, attempt.n, attempt.txHash);
    services.spentMemory?.noteUnpaid(slot, await provesUnpaid(slot, attempt, receipt));
  }
  await tx.lanes.setMined(
    legs.map(
      ({
        slot,
        attempt: { n },
        receipt: { blockNumber, blockHash, status, gasUsed, effectiveGasPrice },
      }) => ({
        slotId: slot.id,
        attempt: n,
        blockNumber,
        blockHash,
        status,
        gasUsed,
        effectiveGasPrice,
      }),
    ),
    services.clock.nowMs(),
  );
  const payments = legs.filter(({ attempt }) => attempt.kind === "pay");
  for (const [kind, ofKind] of Map.groupBy(payments, ({ slot }) => kindOf(slot))) {
    if (ofKind.length > 1 && kind.batchedOutcomes) await kind.batchedOutcomes.mined(services, tx, ofKind);
    else for (const leg of ofKind) await kind.mined(leg);
  }
  return legs.map(({ slot, attempt, receipt }): Slot => {
    const { blockNumber, blockHash, status, gasUsed, effectiveGasPrice, txHash } = receipt;
    tx.events.happened("slot_mined", {
      ...factsOf(slot),
      kind: attempt.kind,
      status,
      txHash,
      block: blockNumber,
    });
    return {
      ...slot,
      state: "mined",
      minedAttempt: attempt.n,
      minedBlockNumber: blockNumber,
      minedBlockHash: blockHash,
      minedStatus: status,
      gasUsed,
      effectiveGasPrice,
      attempts: slot.attempts.map((stored) => (stored.n === attempt.n ? attempt : stored)),
    };
  });
}

/** Whether bytes that the lane's key signed used the nonce without paying. Rows alone do not prove it. */
async function provesUnpaid(slot: Slot, { raw, txHash }: Attempt, { status }: ReceiptFact): Promise<boolean> {
  if (keccak256(raw) !== txHash) return false;
  if (await isSignedNoop(raw, slot)) return true;
  return status !== "success" && (await isSignedPayment(raw, slot));
}

function minedAttemptOf({ id, attempts, minedAttempt }: Slot): Attempt {
  const attempt = attempts.find(({ n }) => n === minedAttempt);
  if (attempt === undefined)
    throw new Error(`invariant violated: slot ${id} is mined by an attempt that is not stored`);
  return attempt;
}
