import { isHttpFault, type RailOutcome } from "@causeway/chains";
import type { ConnectedPayingRail } from "../../chains/chains.port.ts";
import type { Attempt, Slot } from "../../db/records.port.ts";
import type { Services } from "../../db/services.port.ts";
import { applyDead, applyFinal, applyMined, applyOrphaned, factsOf } from "../apply.ts";
import { isMappedOnHub } from "./solver-mapping.ts";
import type { LegServices } from "../legs/leg-course.ts";
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
  for (const kind of ["final", "mined"] as const)
    for (const { attempt, outcome } of asked)
      if (outcome.kind === kind) {
        const mined = await noteMined(services, slot, attempt, outcome);
        if (mined !== undefined && kind === "final") await applyFinal(services, mined);
        return;
      }
  // It was in a block, and is no longer in any.
  if (slot.state === "mined") {
    await applyOrphaned(services, slot);
    return;
  }
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
  if (nowMs > slot.cancelAfterMs)
    return applyDead(services, slot, "TRANSACTION_NOT_INCLUDED", "never signed");
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
  if (isOver) return applyDead(services, slot, slot.cancelReason ?? "TRANSACTION_NOT_INCLUDED", reason);
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

/** @returns the slot, mined by this attempt; undefined if it changed meanwhile */
async function noteMined(
  services: Needs,
  slot: Slot,
  signed: Attempt,
  { block, txId = signed.txHash }: { readonly block: Block; readonly txId?: Attempt["txHash"] },
): Promise<Slot | undefined> {
  if (slot.state === "mined" && slot.minedAttempt === signed.n) return slot;
  const open = slot.state === "mined" ? await applyOrphaned(services, slot) : slot;
  if (open === undefined) return undefined;
  const attempt = { ...signed, txHash: txId };
  return await applyMined(services, open, attempt, {
    txHash: txId,
    status: "success",
    blockNumber: block.number,
    blockHash: block.hash,
    gasUsed: attempt.maxFeePerGas,
    effectiveGasPrice: 1n,
    logs: [],
  });
}
