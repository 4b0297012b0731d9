import { isHttpFault, type RailOutcome, type ReceiptFact } from "@causeway/chains";
import type { FailReason } from "@causeway/domain";
import type { ConnectedPayingRail } from "../../chains/chains.port.ts";
import type { Attempt, Slot } from "../../db/records.port.ts";
import type { Services } from "../../db/services.port.ts";
import type { Tx } from "../../db/unit-of-work.port.ts";
import { isUnderstood } from "./own-word.ts";
import { legOf } from "../legs/leg-of.ts";
import type { LegContext, LegServices } from "../legs/leg-course.ts";
import { railAttemptOf } from "./rail-payment.ts";
import { makeAttempt, sendAttempt, sendRailSlot } from "./send-rail-slot.ts";

type Needs = Pick<Services, "events"> & LegServices & Pick<Services, "reads" | "nonceMappings">;

type Block = Extract<RailOutcome, { kind: "mined" }>["block"];

/** Nominal blocks after which a payment that nodes have is stuck. */
const STUCK_BLOCKS = 3;
/** Slots looked at together. */
const AT_ONCE = 8;

/**
 * Looks after every payment of a rail that is not settled: what became of its bytes, and what is to be done
 * about them. New bytes are made only where the former can never count any more, or where they conflict with
 * them. One payment's fault does not keep the others waiting.
 * @throws Error caused by the first HTTP error that a payment met, or else by its first fault, after the
 * round; the next round tries again
 */
export async function trackRail(services: Needs, connected: ConnectedPayingRail): Promise<void> {
  const { chain, rail } = connected;
  const slots = await services.reads.unsettledSlots(chain.id, rail.solver);
  const faults: unknown[] = [];
  for (let at = 0; at < slots.length; at += AT_ONCE)
    await Promise.all(
      slots
        .slice(at, at + AT_ONCE)
        .map(async (slot) => trackSlot(services, connected, slot).catch((error) => faults.push(error))),
    );
  if (faults.length > 0)
    throw new Error(`maintenance failed for ${faults.length} payments on ${chain.name}`, {
      cause: faults.find(isHttpFault) ?? faults[0],
    });
}

async function trackSlot(services: Needs, connected: ConnectedPayingRail, slot: Slot): Promise<void> {
  const { rail } = connected;
  if (slot.attempts.length === 0) return careForUnsigned(services, connected, slot);
  // Such bytes never left, and may not leave yet: there is nothing to ask the chain.
  if (services.clock.nowMs() <= slot.cancelAfterMs && (await isHeldBack(services, connected, slot))) return;
  const asked = await Promise.all(
    slot.attempts.map(async (attempt) => ({
      attempt,
      outcome: await rail.outcome(railAttemptOf(attempt)),
    })),
  );
  for (const { attempt, outcome } of asked)
    if (outcome.kind === "final") return settle(services, slot, attempt, outcome);
  for (const { attempt, outcome } of asked)
    if (outcome.kind === "mined") return noteMined(services, slot, attempt, outcome);
  // It was in a block, and is in none that anybody knows now.
  if (slot.state === "mined") return fallOut(services, slot);
  const living = asked.filter(({ outcome }) => outcome.kind !== "dead");
  const last = living.at(-1);
  if (last === undefined) return careForDead(services, connected, slot, asked.map(reasonOf).at(-1) ?? "");
  return careForLiving(services, connected, slot, {
    last: last.attempt,
    isOffered: living.some(({ outcome }) => outcome.kind === "pending"),
  });
}

/**
 * Whether no oracle can learn of any of a slot's payments yet. Nothing is sent before that, and what the hub
 * has learnt it keeps; so none of these bytes can have been sent, even by a process that died before it noted
 * that.
 */
async function isHeldBack(services: Needs, { rail }: ConnectedPayingRail, slot: Slot): Promise<boolean> {
  if (rail.signNonceMapping === undefined || services.nonceMappings === undefined || slot.state !== "open")
    return false;
  for (const attempt of slot.attempts) {
    if (attempt.kind !== "pay" || attempt.broadcastAtMs !== undefined) return false;
    if (await isUnderstood(services, { rail }, slot, railAttemptOf(attempt))) return false;
  }
  return true;
}

function reasonOf({ outcome }: { readonly outcome: RailOutcome }): string {
  return outcome.kind === "dead" ? outcome.reason : outcome.kind;
}

/** Nothing was signed: whoever was about to is gone, or the solver had not enough. */
async function careForUnsigned(services: Needs, connected: ConnectedPayingRail, slot: Slot): Promise<void> {
  const nowMs = services.clock.nowMs();
  if (nowMs > slot.cancelAfterMs) return die(services, slot, "TRANSACTION_NOT_INCLUDED", "never signed");
  if (nowMs - slot.createdAtMs > services.enginePolicy.orphanedAfterMs)
    await sendRailSlot(services, connected, slot.id);
}

/**
 * None of its bytes can ever count: they are made anew while that makes sense, and the leg may go another way
 * after that.
 */
async function careForDead(
  services: Needs,
  connected: ConnectedPayingRail,
  slot: Slot,
  reason: string,
): Promise<void> {
  const { maxAttempts } = services.enginePolicy;
  const isOver =
    slot.cancelReason !== undefined ||
    services.clock.nowMs() > slot.cancelAfterMs ||
    slot.attempts.length >= maxAttempts;
  if (isOver) return die(services, slot, slot.cancelReason ?? "TRANSACTION_NOT_INCLUDED", reason);
  await again(services, connected, slot, "pay", reason);
}

/** Some of its bytes may still come to count. */
async function careForLiving(
  services: Needs,
  connected: ConnectedPayingRail,
  slot: Slot,
  { last, isOffered }: { readonly last: Attempt; readonly isOffered: boolean },
): Promise<void> {
  const { chain, rail } = connected;
  const { enginePolicy: policy, clock } = services;
  const nowMs = clock.nowMs();
  const isLate = nowMs > slot.cancelAfterMs;
  // What nodes have will be in a block, and the recipient may count on it: late is better than taken back.
  // What no node has is taken back where that is possible.
  if (isLate && rail.takesBack && !isOffered && last.kind === "pay")
    if (await takeBack(services, connected, slot)) return;
  const since = last.offeredSinceMs ?? last.createdAtMs;
  const patienceMs = isOffered
    ? Math.max(policy.stuckAfterMs, STUCK_BLOCKS * chain.blockTimeSeconds * 1000)
    : policy.stuckAfterMs;
  const isStuck = nowMs - since > patienceMs && slot.attempts.length < policy.maxAttempts;
  // What cannot be made anew, for want of money say, is offered as it is.
  if (isStuck && rail.replaces && (await again(services, connected, slot, last.kind, "stuck"))) return;
  // Whoever made it a moment ago is about to send it.
  const isFresh = last.broadcastAtMs === undefined && nowMs - last.createdAtMs <= policy.orphanedAfterMs;
  const isDue = nowMs - (last.broadcastAtMs ?? 0) > policy.rebroadcastIntervalMs;
  // A payment that was given up and has no bytes against it yet may still be sent: it is not.
  const isGivenUp = last.kind === "pay" && slot.cancelReason !== undefined;
  if (!isFresh && isDue && !isGivenUp) await sendAttempt(services, connected, slot, last);
}

/**
 * False when the chain does not let the solver pay himself: then the payment is made after all, when a node
 * takes it.
 */
async function takeBack(services: Needs, connected: ConnectedPayingRail, slot: Slot): Promise<boolean> {
  try {
    await again(services, connected, slot, "noop", "too late");
    return true;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    services.events.alarm("attempt_refused", { ...factsOf(slot), reason: error.message });
    return false;
  }
}

/** False when there are no further bytes: the slot has moved on, or the solver has not enough. */
async function again(
  services: Needs,
  connected: ConnectedPayingRail,
  slot: Slot,
  kind: Attempt["kind"],
  why: string,
): Promise<boolean> {
  const attempt = await makeAttempt(services, connected, slot, kind);
  if (attempt === undefined) return false;
  services.events.alarm("attempt_replaced", {
    chainId: slot.chainId,
    nonce: slot.nonce,
    requestId: slot.leg.requestId,
    kind,
    attempt: attempt.n,
    why,
  });
  await sendAttempt(services, connected, slot, attempt);
  return true;
}

/**
 * Moves a slot and what it pays in one commit, if it still stands where it was seen; false when it does not.
 */
async function move(
  services: Needs,
  slot: Slot,
  from: Slot["state"],
  act: (moment: LegContext) => Promise<void>,
): Promise<boolean> {
  return await services.uow.run(async (tx: Tx) => {
    const { requestId } = slot.leg;
    const record = requestId === undefined ? undefined : await tx.requests.lock(requestId);
    const current = await tx.lanes.lockSlot(slot.id);
    if (current?.state !== from) return false;
    await act({ services, tx, slot: current, record });
    return true;
  });
}

async function noteMined(
  services: Needs,
  slot: Slot,
  seen: Attempt,
  { block, txId = seen.txHash }: { readonly block: Block; readonly txId?: Attempt["txHash"] },
): Promise<void> {
  const attempt = { ...seen, txHash: txId };
  if (slot.state === "mined") {
    if (slot.minedAttempt === attempt.n) return;
    await fallOut(services, slot);
  }
  const applied = await move(services, slot, "open", async (moment) => {
    const { tx } = moment;
    const cost = { gasUsed: attempt.maxFeePerGas, effectiveGasPrice: 1n };
    const where = { blockNumber: block.number, blockHash: block.hash };
    if (txId !== seen.txHash) await tx.rails.renameAttempt(slot.id, attempt.n, txId);
    await tx.lanes.setMined(slot.id, {
      attempt: attempt.n,
      ...where,
      status: "success",
      ...cost,
      atMs: services.clock.nowMs(),
    });
    const receipt: ReceiptFact = { txHash: txId, status: "success", ...where, ...cost, logs: [] };
    if (attempt.kind === "pay") await legOf(slot).mined(moment, { attempt, receipt });
  });
  if (applied)
    services.events.happened("slot_mined", {
      ...factsOf(slot),
      kind: attempt.kind,
      status: "success",
      txHash: txId,
      block: block.number,
    });
}

async function fallOut(services: Needs, slot: Slot): Promise<void> {
  const applied = await move(services, slot, "mined", async (moment) => {
    const { tx } = moment;
    await tx.lanes.setOpen(slot.id);
    // The same bytes are sent again at once.
    await tx.lanes.forgetBroadcast(slot.id);
    const attempt = moment.slot.attempts.find(({ n }) => n === moment.slot.minedAttempt);
    if (attempt?.kind === "pay") await legOf(slot).unmined(moment, attempt);
  });
  if (applied) services.events.alarm("slot_unmined", factsOf(slot));
}

/** Beyond doubt: it is paid, or what was to be paid never will be by this slot. */
async function settle(
  services: Needs,
  slot: Slot,
  attempt: Attempt,
  outcome: Extract<RailOutcome, { kind: "final" }>,
): Promise<void> {
  await noteMined(services, slot, attempt, outcome);
  if (attempt.kind === "noop")
    return die(services, slot, slot.cancelReason ?? "TRANSACTION_NOT_INCLUDED", "given up", "mined");
  const applied = await move(services, slot, "mined", async (moment) => {
    await moment.tx.lanes.setFinal(slot.id);
    await legOf(slot).final(moment);
  });
  if (applied) services.events.happened("slot_final", factsOf(slot));
}

/** Nothing that was signed for it pays any more, for good: only now may the leg go another way. */
async function die(
  services: Needs,
  slot: Slot,
  reason: FailReason,
  why: string,
  from: "open" | "mined" = "open",
): Promise<void> {
  const applied = await move(services, slot, from, async (moment) => {
    // Bytes that were committed since are not among those that are known to be dead.
    if (moment.slot.attempts.length !== slot.attempts.length) return;
    await moment.tx.lanes.setDead(slot.id, reason);
    await legOf(slot).dead(moment, reason);
  });
  if (applied) services.events.alarm("slot_dead", { ...factsOf(slot), reason, why });
}

function factsOf({ chainId, nonce, leg }: Slot) {
  return { chainId, nonce, leg: leg.kind, requestId: leg.requestId };
}
