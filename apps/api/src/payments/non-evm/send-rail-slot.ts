import { InsufficientInventory } from "@causeway/chains";
import type { ConnectedPayingRail } from "../../chains/chains.port.ts";
import type { Attempt, AttemptKind, Slot } from "../../db/records.port.ts";
import type { Services } from "../../db/services.port.ts";
import { isMappedOnHub, signedMappingOf } from "./solver-mapping.ts";
import { factsOf, noteSent } from "../send-slot.ts";
import type { TransitionServices } from "../../requests/index.ts";
import { attemptOf, paymentOf, railAttemptOf } from "./rail-payment.ts";

type Needs = Pick<Services, "events" | "uow" | "reads" | "nonceMappings"> & TransitionServices;

/**
 * Signs a slot's first bytes if needed, commits them, then sends them. Safe to call any time from any number
 * of processes: only committed bytes are sent, and sending twice pays once. Later attempts belong to the
 * tracker. Does not wait: the caller serves other chains.
 * @throws RpcFault: the slot stays as it is, and the tracker retries
 */
export async function sendRailSlot(
  services: Needs,
  connected: ConnectedPayingRail,
  slotId: string,
): Promise<void> {
  const slot = await services.reads.slot(slotId);
  if (slot === undefined || slot.state !== "open" || slot.cancelReason !== undefined) return;
  const latest = slot.attempts.at(-1);
  const attempt = latest ?? (await makeAttempt(services, connected, slot, "pay"));
  if (attempt === undefined || attempt.broadcastAtMs !== undefined) return;
  await sendAttempt(services, connected, slot, attempt);
}

/**
 * Sends committed bytes and records that nodes have them, unless oracles could not map them.
 * @throws RpcFault
 */
export async function sendAttempt(
  services: Needs,
  { rail }: Pick<ConnectedPayingRail, "rail">,
  slot: Slot,
  attempt: Attempt,
): Promise<void> {
  const isPayment = attempt.kind === "pay";
  if (isPayment && !(await isMappedOnHub(services, { rail }, slot, railAttemptOf(attempt)))) return;
  const outcome = await rail.send(railAttemptOf(attempt));
  if (outcome === "sent") return noteSent(services, slot, attempt, "accepted", rail.idsComeLater !== true);
  // A refusal now proves nothing about earlier sends: only the chain shows the outcome.
  services.events.alarm("attempt_refused", { ...factsOf(slot, attempt), reason: outcome.refused });
}

/** Another process may sign at the same time, but rarely this often. */
const MAX_TRIES = 10;

/**
 * Signs the next attempt of a slot and commits it, one at a time per chain in this process. If another
 * process signed meanwhile, the commit detects it and signs again: two payments never spend the same funds.
 * @returns undefined if it must not be made: another process did, the slot moved on, or the balance is too
 * low
 * @throws RpcFault
 */
export async function makeAttempt(
  services: Needs,
  connected: ConnectedPayingRail,
  slot: Slot,
  kind: AttemptKind,
): Promise<Attempt | undefined> {
  return await inTurn(connected, async () => {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const made = await tryToMake(services, connected, slot, kind);
      if (made !== "again") return made;
    }
    throw new Error(`other processes keep signing payments on ${connected.chain.name}`);
  });
}

async function tryToMake(
  services: Needs,
  { chain, rail }: ConnectedPayingRail,
  slot: Slot,
  kind: AttemptKind,
): Promise<Attempt | undefined | "again"> {
  const others = (await services.reads.unsettledSlots(chain.id, slot.sender))
    .filter(({ id }) => id !== slot.id)
    .flatMap(({ attempts }) => attempts);
  const before = slot.attempts.map(railAttemptOf);
  let made;
  try {
    made = await rail.prepare(
      paymentOf(slot, kind),
      before,
      others.map(({ raw }) => raw),
    );
  } catch (error) {
    if (!(error instanceof InsufficientInventory)) throw error;
    const { requestId } = slot.leg;
    services.events.alarm("fill_waits", { requestId, chain: chain.name, why: error.message });
    return undefined;
  }
  const attempt = attemptOf(made, slot.attempts.length, kind);
  const word = kind === "pay" ? await signedMappingOf({ rail }, slot, made) : undefined;
  const seen = new Set(others.map(({ txHash }) => txHash));
  return await services.uow.run(async (tx) => {
    await tx.lanes.lockLane(chain.id, slot.sender);
    const current = await tx.lanes.lockSlot(slot.id);
    const isAsItWas =
      current?.state === "open" &&
      current.attempts.length === slot.attempts.length &&
      (kind === "noop" || current.cancelReason === undefined);
    if (!isAsItWas) return undefined;
    const now = await tx.rails.unsettledAttempts(chain.id, slot.sender, slot.id);
    if (now.some((txHash) => !seen.has(txHash))) return "again" as const;
    if (!(await tx.lanes.addAttempt(slot.id, attempt))) return undefined;
    // From now on only the no-op is sent.
    if (kind === "noop") await tx.lanes.cancel(slot.id, "TRANSACTION_NOT_INCLUDED");
    // Committed with the bytes, so that a sent payment never loses its order.
    if (word !== undefined && (await tx.nonceMappings.store(word, attempt.createdAtMs)) === "taken")
      throw new Error(`a nonce of ${chain.name} is already mapped to another order`);
    return attempt;
  });
}

/** Signing in progress per chain in this process. */
const turns = new WeakMap<ConnectedPayingRail["rail"], Promise<unknown>>();

async function inTurn<T>({ rail }: Pick<ConnectedPayingRail, "rail">, work: () => Promise<T>): Promise<T> {
  const before = turns.get(rail) ?? Promise.resolve();
  const mine = before.then(work, work);
  turns.set(
    rail,
    mine.catch(() => undefined),
  );
  return await mine;
}
