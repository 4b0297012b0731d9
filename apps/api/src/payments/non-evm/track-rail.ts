import { isHttpFault, type RailOutcome, type ReceiptFact } from "@causeway/chains";
import type { FailReason } from "@causeway/domain";
import type { ConnectedPayingRail } from "../../chains/chains.port.ts";
import type { Attempt, Slot } from "../../db/records.port.ts";
import type { Services } from "../../db/services.port.ts";
import type { Tx } from "../../db/unit-of-work.port.ts";
import { isMappedOnHub } from "./solver-mapping.ts";
import { legOf } from "../legs/leg-of.ts";
import type { LegContext, LegServices } from "../legs/leg-course.ts";
import { railAttemptOf } from "./rail-payment.ts";
import { makeAttempt, sendAttempt, sendRailSlot } from "./send-rail-slot.ts";

type Needs = Pick<Services, "events"> & LegServices & Pick<Services, "reads" | "nonceMappings">;

type Block = Extract<RailOutcome, { kind: "mined" }>["block"];

/** Nominal blocks after which a broadcast payment counts as stuck. */
const STUCK_BLOCKS = 3;
/** Slots tracked at once. */
const AT_ONCE = 8;

/**
 * Tracks every unsettled payment of a non-EVM chain. Signs new bytes only if the former can never be mined,
 * or if they conflict. One payment's fault does not delay the others.
 * @throws Error caused by the first HTTP fault, or else the first fault, after the round; the next round
 * retries
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
  if (slot.attempts.length === 0) return handleUnsigned(services, connected, slot);
  // Such bytes were never sent, and must not be yet: there is nothing to query.
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
  // It was in a block, and is no longer in any.
  if (slot.state === "mined") return noteOrphaned(services, slot);
  const living = asked.filter(({ outcome }) => outcome.kind !== "dead");
  const last = living.at(-1);
  if (last === undefined) return handleDead(services, connected, slot, asked.map(reasonOf).at(-1) ?? "");
  return handlePending(services, connected, slot, {
    last: last.attempt,
    isOffered: living.some(({ outcome }) => outcome.kind === "pending"),
  });
}

/**
 * Whether oracles cannot map any of a slot's payments yet. Nothing is sent before that, and the hub keeps its
 * mappings; so none of these bytes can have been sent, even by a process that died.
 */
async function isHeldBack(services: Needs, { rail }: ConnectedPayingRail, slot: Slot): Promise<boolean> {
  if (rail.signNonceMapping === undefined || services.nonceMappings === undefined || slot.state !== "open")
    return false;
  for (const attempt of slot.attempts) {
    if (attempt.kind !== "pay" || attempt.broadcastAtMs !== undefined) return false;
    if (await isMappedOnHub(services, { rail }, slot, railAttemptOf(attempt))) return false;
  }
  return true;
}

function reasonOf({ outcome }: { readonly outcome: RailOutcome }): string {
  return outcome.kind === "dead" ? outcome.reason : outcome.kind;
}

/** Nothing was signed: the process died, or the balance was too low. */
async function handleUnsigned(services: Needs, connected: ConnectedPayingRail, slot: Slot): Promise<void> {
  const nowMs = services.clock.nowMs();
  if (nowMs > slot.cancelAfterMs) return markDead(services, slot, "TRANSACTION_NOT_INCLUDED", "never signed");
  if (nowMs - slot.createdAtMs > services.enginePolicy.orphanedAfterMs)
    await sendRailSlot(services, connected, slot.id);
}

/**
 * None of its bytes can be mined any more: signs again until the deadline, a cancellation or the last
 * attempt. After that, the leg may be paid another way.
 */
async function handleDead(
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
  if (isOver) return markDead(services, slot, slot.cancelReason ?? "TRANSACTION_NOT_INCLUDED", reason);
  await again(services, connected, slot, "pay", reason);
}

/** Some of its bytes may still be mined. */
async function handlePending(
  services: Needs,
  connected: ConnectedPayingRail,
  slot: Slot,
  { last, isOffered }: { readonly last: Attempt; readonly isOffered: boolean },
): Promise<void> {
  const { chain, rail } = connected;
  const { enginePolicy: policy, clock } = services;
  const nowMs = clock.nowMs();
  const isLate = nowMs > slot.cancelAfterMs;
  // Broadcast bytes will be mined, and the recipient may count on them: late is better than canceled. Bytes
  // that no node has are canceled where possible.
  if (isLate && rail.takesBack && !isOffered && last.kind === "pay")
    if (await cancelPayment(services, connected, slot)) return;
  const since = last.offeredSinceMs ?? last.createdAtMs;
  const patienceMs = isOffered
    ? Math.max(policy.stuckAfterMs, STUCK_BLOCKS * chain.blockTimeSeconds * 1000)
    : policy.stuckAfterMs;
  const isStuck = nowMs - since > patienceMs && slot.attempts.length < policy.maxAttempts;
  // If a replacement cannot be signed, such as for lack of funds, rebroadcasts the latest.
  if (isStuck && rail.replaces && (await again(services, connected, slot, last.kind, "stuck"))) return;
  // The process that just signed it is about to send it.
  const isFresh = last.broadcastAtMs === undefined && nowMs - last.createdAtMs <= policy.orphanedAfterMs;
  const isDue = nowMs - (last.broadcastAtMs ?? 0) > policy.rebroadcastIntervalMs;
  // A canceled payment without a conflicting attempt could still be mined, so it is not sent.
  const isGivenUp = last.kind === "pay" && slot.cancelReason !== undefined;
  if (!isFresh && isDue && !isGivenUp) await sendAttempt(services, connected, slot, last);
}

/**
 * False if the chain does not let the solver pay itself: then the payment is made after all, when a node
 * accepts it.
 */
async function cancelPayment(services: Needs, connected: ConnectedPayingRail, slot: Slot): Promise<boolean> {
  try {
    await again(services, connected, slot, "noop", "too late");
    return true;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    services.events.alarm("attempt_refused", { ...factsOf(slot), reason: error.message });
    return false;
  }
}

/** False if there are no further bytes: the slot moved on, or the balance is too low. */
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

/** Moves a slot and its leg in one commit, unless the slot's state changed; false if it did. */
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
    await noteOrphaned(services, slot);
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

async function noteOrphaned(services: Needs, slot: Slot): Promise<void> {
  const applied = await move(services, slot, "mined", async (moment) => {
    const { tx } = moment;
    await tx.lanes.setOpen(slot.id);
    // The same bytes are sent again immediately.
    await tx.lanes.forgetBroadcast(slot.id);
    const attempt = moment.slot.attempts.find(({ n }) => n === moment.slot.minedAttempt);
    if (attempt?.kind === "pay") await legOf(slot).orphaned(moment, attempt);
  });
  if (applied) services.events.alarm("slot_unmined", factsOf(slot));
}

/** Final: the slot paid, or never will. */
async function settle(
  services: Needs,
  slot: Slot,
  attempt: Attempt,
  outcome: Extract<RailOutcome, { kind: "final" }>,
): Promise<void> {
  await noteMined(services, slot, attempt, outcome);
  if (attempt.kind === "noop")
    return markDead(services, slot, slot.cancelReason ?? "TRANSACTION_NOT_INCLUDED", "given up", "mined");
  const applied = await move(services, slot, "mined", async (moment) => {
    await moment.tx.lanes.setFinal(slot.id, services.clock.nowMs());
    await legOf(slot).final(moment);
  });
  if (applied) services.events.happened("slot_final", factsOf(slot));
}

/** Nothing signed for it can pay any more: only now may the leg be paid another way. */
async function markDead(
  services: Needs,
  slot: Slot,
  reason: FailReason,
  why: string,
  from: "open" | "mined" = "open",
): Promise<void> {
  const applied = await move(services, slot, from, async (moment) => {
    // Attempts committed since may not be dead.
    if (moment.slot.attempts.length !== slot.attempts.length) return;
    await moment.tx.lanes.setDead(slot.id, reason);
    await legOf(slot).dead(moment, reason);
  });
  if (applied) services.events.alarm("slot_dead", { ...factsOf(slot), reason, why });
}

function factsOf({ chainId, nonce, leg }: Slot) {
  return { chainId, nonce, leg: leg.kind, requestId: leg.requestId };
}
