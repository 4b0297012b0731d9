import type { BroadcastOutcome } from "@causeway/chains";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { Facts } from "../db/events.port.ts";
import type { Attempt, Slot } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import { refusedTarget } from "./executions/own-contracts.ts";
import type { LaneKeys } from "../chains/index.ts";
import { signAttempt } from "./sign-attempt.ts";
import { type Move, transition, transitionAll, type TransitionServices } from "../requests/index.ts";

type Needs = Pick<Services, "events"> &
  LaneKeys &
  Pick<Services, "uow" | "reads" | "chains" | "slotsInHand"> &
  TransitionServices;

/**
 * Sends a slot's newest bytes: signs them if needed, commits them, then broadcasts. Safe to call any time
 * from any number of processes: bytes are committed before they are broadcast, and rebroadcasting is
 * harmless.
 * @throws RpcFault if the node is unreachable; the slot stays as it is and lane maintenance retries
 */
export async function sendSlot(services: Needs, slotId: string): Promise<void> {
  services.slotsInHand?.add(slotId);
  try {
    await send(services, slotId);
  } finally {
    services.slotsInHand?.delete(slotId);
  }
}

async function send(services: Needs, slotId: string): Promise<void> {
  const slot = await services.reads.slot(slotId);
  if (slot === undefined || slot.state !== "open") return;
  const latest = slot.attempts.at(-1);
  // A canceled payment is not offered any more: a no-op of lane maintenance takes its nonce.
  if (latest?.kind === "pay" && slot.cancelReason !== undefined) return;
  if (latest !== undefined) return broadcast(services, slot, latest);

  const isGivenUp = slot.cancelReason !== undefined || (await cancelRefused(services, slot));
  const attempt = await signAttempt(services, slot, isGivenUp ? "noop" : "pay", slot);
  // Persist before broadcast: a crash here must leave the bytes findable, or the payment could be made twice.
  const ours = await services.uow.run((tx) => tx.lanes.addAttempt(slot.id, attempt));
  if (ours) return broadcast(services, slot, attempt);
  // Another process signed first, so its bytes are the ones to send.
  const again = await services.reads.slot(slotId);
  const theirs = again?.attempts.at(-1);
  if (again !== undefined && theirs !== undefined) return broadcast(services, again, theirs);
}

/**
 * Checked before an execution is first signed: its nonce may have been reserved under a configuration that
 * did not list all contracts of the service.
 */
async function cancelRefused(services: Needs, slot: Slot): Promise<boolean> {
  if (slot.leg.kind !== "execution") return false;
  const connected = services.chains.get(slot.chainId);
  const execution = await services.reads.execution(slot.leg.requestId);
  if (connected === undefined || execution === undefined) return false;
  if (refusedTarget(services, connected, execution) === undefined) return false;
  await services.uow.run((tx) => tx.lanes.cancel(slot.id, "TRANSACTION_SUBMISSION_FAILED"));
  return true;
}

/** Sends committed bytes and records the node's answer. */
export async function broadcast(services: Needs, slot: Slot, attempt: Attempt): Promise<void> {
  const connected = services.chains.get(slot.chainId);
  if (connected === undefined) throw new Error(`chain ${slot.chainId} of slot ${slot.id} is not configured`);
  const outcome = await connected.connection.writer.broadcast(attempt.raw);
  await noteOutcome(services, slot, attempt, outcome);
}

/**
 * The same for attempts of several slots at once, recording accepted ones in one commit.
 * @returns by slot, the error that prevented a broadcast: a retry of the slot sends it again
 */
export async function broadcastAll(
  services: Needs,
  { connection }: ConnectedChain,
  sent: ReadonlyArray<{ readonly slot: Slot; readonly attempt: Attempt }>,
): Promise<Map<string, Error>> {
  const errors = new Map<string, Error>();
  const taken: Sent[] = [];
  await Promise.all(
    sent.map(async ({ slot, attempt }) => {
      try {
        const outcome = await connection.writer.broadcast(attempt.raw);
        if (outcome.kind === "insufficientFunds" || outcome.kind === "rejected")
          await noteOutcome(services, slot, attempt, outcome);
        else taken.push({ slot, attempt, outcome: outcome.kind });
      } catch (error) {
        errors.set(slot.id, error instanceof Error ? error : new Error(String(error)));
      }
    }),
  );
  if (taken.length > 0) await noteAllSent(services, taken);
  return errors;
}

async function noteOutcome(
  services: Needs,
  slot: Slot,
  attempt: Attempt,
  outcome: BroadcastOutcome,
): Promise<void> {
  const facts = factsOf(slot, attempt);
  switch (outcome.kind) {
    case "accepted":
    case "alreadyKnown":
    // The nonce is used, by these bytes or by others: only a receipt shows which, and the tracker reads it.
    case "nonceTooLow":
    // An earlier attempt is in the mempool; it is replaced when it proves stuck.
    case "underpriced":
      return noteSent(services, slot, attempt, outcome.kind);
    case "insufficientFunds":
      // The solver must be funded. Lane maintenance sends it again; nothing behind this nonce can be mined
      // meanwhile.
      services.events.alarm("attempt_refused", {
        ...facts,
        reason: "the solver lacks the native token for this transaction",
      });
      await services.uow.run((tx) => tx.lanes.noteRefused(slot.id, attempt.n, services.clock.nowMs()));
      return;
    case "rejected":
      services.events.alarm("attempt_refused", { ...facts, reason: outcome.reason });
      if (attempt.kind === "pay")
        await services.uow.run((tx) => tx.lanes.cancel(slot.id, "TRANSACTION_SUBMISSION_FAILED"));
      return;
    default:
      outcome satisfies never;
  }
}

/**
 * Records that nodes have the bytes, and updates the request.
 * @param isId whether the attempt's hash is its id on chain; otherwise clients learn it later
 */
export async function noteSent(
  services: Pick<Services, "events" | "uow"> & TransitionServices,
  slot: Slot,
  attempt: Attempt,
  outcome: string,
  isId = true,
): Promise<void> {
  const facts = factsOf(slot, attempt);
  const atMs = services.clock.nowMs();
  const { leg } = slot;
  const acceptedAtMs = await services.uow.run(async (tx) => {
    let fastFillAtMs: number | undefined;
    if (leg.kind === "fill" && attempt.kind === "pay") {
      const record = await tx.requests.lock(leg.requestId);
      if (record) {
        const { decision } = await transition(
          services,
          tx,
          record,
          { kind: "fillBroadcast" },
          isId ? { txHashes: [attempt.txHash] } : {},
          { txHash: attempt.txHash, nonce: slot.nonce, broadcastAtMs: atMs },
        );
        if (decision.kind === "applied" && record.state.front !== "none")
          fastFillAtMs = (await tx.fastFills.find(leg.requestId))?.acceptedAtMs;
      }
    }
    await tx.lanes.setBroadcast(slot.id, attempt.n, atMs);
    return fastFillAtMs;
  });
  if (acceptedAtMs !== undefined)
    services.events.happened("fast_fill_broadcast", { ...facts, tookMs: atMs - acceptedAtMs });
  services.events.happened("attempt_broadcast", { ...facts, outcome });
}

interface Sent {
  readonly slot: Slot;
  readonly attempt: Attempt;
  /** The node's answer. */
  readonly outcome: string;
}

/** {@link noteSent} for attempts of several slots, in one commit. Fast fills are not sent together. */
async function noteAllSent(services: Needs, sent: readonly Sent[]): Promise<void> {
  const atMs = services.clock.nowMs();
  const fills = sent.filter(({ slot, attempt }) => slot.leg.kind === "fill" && attempt.kind === "pay");
  await services.uow.run(async (tx) => {
    const records = await tx.requests.lockAll(fills.flatMap(({ slot }) => slot.leg.requestId ?? []));
    const moves = fills.flatMap(({ slot: { leg, nonce }, attempt: { txHash } }): Move[] => {
      const record = leg.requestId && records.get(leg.requestId);
      if (record === undefined) return [];
      const facts = { txHash, nonce, broadcastAtMs: atMs };
      return [{ record, event: { kind: "fillBroadcast" }, change: { txHashes: [txHash] }, facts }];
    });
    await transitionAll(services, tx, moves);
    await tx.lanes.setBroadcasts(
      sent.map(({ slot, attempt }) => ({ slotId: slot.id, n: attempt.n })),
      atMs,
    );
    for (const { slot, attempt, outcome } of sent)
      tx.events.happened("attempt_broadcast", { ...factsOf(slot, attempt), outcome });
  });
}

export function factsOf(slot: Slot, attempt: Attempt): Facts {
  return {
    chainId: slot.chainId,
    nonce: slot.nonce,
    leg: slot.leg.kind,
    requestId: slot.leg.requestId,
    attempt: attempt.n,
    kind: attempt.kind,
    txHash: attempt.txHash,
  };
}
