import { signTransaction } from "@causeway/chains";
import type { GasPrices } from "@causeway/chains";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { Attempt, Slot } from "../db/records.port.ts";
import type { Services } from "../db/services.port.ts";
import { type LaneKeys, laneSigners, signerOf } from "../chains/index.ts";
import { replacementFees } from "./moves.ts";
import { broadcast, sendSlot } from "./send-slot.ts";
import { signAttempt } from "./sign-attempt.ts";
import type { TransitionServices } from "../requests/index.ts";

type Needs = Pick<Services, "events"> &
  LaneKeys &
  Pick<Services, "uow" | "reads" | "chains" | "enginePolicy" | "slotsInHand"> &
  TransitionServices;

/** Slots maintained per round: the first ones come first, and the others get their turn. */
const WINDOW = 200;

/**
 * Maintains the lanes of a chain: sends what a dead process left unsent, rebroadcasts, bumps fees of stuck
 * transactions, and cancels payments that must not be made. One slot's fault does not delay the others.
 * @throws RpcFault when the lane cannot be compared with its chain; after the round, an Error caused by the
 * first fault of a slot. The next round retries.
 */
export async function maintainLane(services: Needs, connected: ConnectedChain): Promise<void> {
  const { chain, connection, pulse } = connected;
  const faults: unknown[] = [];
  const senders = laneSigners(services).map(({ address }) => address);
  // Before the read: a slot that is sent meanwhile is read as unsent.
  const inHand = new Set(services.slotsInHand);
  const unsettled = await services.reads.unsettledSlots(chain.id, ...senders);
  const open = unsettled.filter(({ state }) => state === "open");
  for (const [address, slots] of Map.groupBy(open, ({ sender }) => sender)) {
    const used = await connection.reader.nonce(address, "latest");
    const round: Round = { connected, used, prices: pulse.gasPrices(), inHand };
    await fillGap(services, round, address, slots).catch((error: unknown) => faults.push(error));
    for (const slot of slots.filter(({ nonce }) => nonce >= used).slice(0, WINDOW))
      await maintainSlot(services, round, slot).catch((error: unknown) => faults.push(error));
  }
  const [first] = faults;
  if (faults.length > 0)
    throw new Error(`maintenance failed for ${faults.length} slots of the lane`, { cause: first });
}

/** Maximum nonces filled per round. */
const MAX_GAP = 50;

/**
 * Fills nonce gaps below the lane that no payment was given: the key was used elsewhere and a reorg dropped
 * that transaction, so nothing in the lane can be mined. The no-ops pay nothing and are not stored; if the
 * dropped transaction returns, nodes refuse them.
 */
async function fillGap(
  services: Needs,
  { connected, used, prices }: Round,
  sender: Slot["sender"],
  open: readonly Slot[],
): Promise<void> {
  const { chain, connection } = connected;
  const first = open.reduce((min, { nonce }) => (nonce < min ? nonce : min), open[0]?.nonce ?? used);
  if (first <= used) return;
  const given = await services.reads.givenNonces(chain.id, sender, used, first);
  const gasLimit = await noopGas(connected, sender);
  const signer = signerOf(services, sender);
  const fees = { maxFeePerGas: prices.maxFeePerGas, maxPriorityFeePerGas: prices.maxPriorityFeePerGas };
  for (let nonce = used; nonce < first && nonce < used + MAX_GAP; nonce++) {
    if (given.has(nonce)) continue;
    const { raw, hash } = await signTransaction(
      { chainId: chain.id, nonce, to: sender, data: "0x", value: 0n, gas: gasLimit, ...fees },
      (digest) => signer.signDigest(digest),
    );
    const { kind } = await connection.writer.broadcast(raw);
    services.events.alarm("nonce_gap_filled", {
      chain: chain.name,
      sender,
      nonce,
      txHash: hash,
      outcome: kind,
    });
  }
}

/** Shared by all slots of one round. */
interface Round {
  readonly connected: ConnectedChain;
  /** The chain's transaction count of the sender: the nonce at the head of the lane. */
  readonly used: number;
  readonly prices: GasPrices;
  /** Slots that this process was sending when the round began. */
  readonly inHand: ReadonlySet<string>;
}

async function maintainSlot(services: Needs, round: Round, slot: Slot): Promise<void> {
  const { enginePolicy: policy } = services;
  const nowMs = services.clock.nowMs();
  const cancelled = slot.cancelReason !== undefined || (await cancelIfHopeless(services, round, slot, nowMs));
  const latest = slot.attempts.at(-1);
  const isInHand = round.inHand.has(slot.id);
  if (latest === undefined) {
    if (!isInHand && nowMs - slot.createdAtMs > policy.orphanedAfterMs) await sendSlot(services, slot.id);
  } else if (cancelled && latest.kind === "pay") {
    await replace(services, round, slot, latest, "noop");
  } else if (
    latest.broadcastAtMs === undefined &&
    (isInHand || nowMs - latest.createdAtMs <= policy.orphanedAfterMs)
  ) {
    // The process that just signed it is about to send it.
  } else if (isStuck(slot, latest, round, nowMs, policy.stuckAfterMs)) {
    await replace(services, round, slot, latest, latest.kind);
  } else if (nowMs - (latest.broadcastAtMs ?? 0) > policy.rebroadcastIntervalMs) {
    await broadcast(services, slot, latest);
  }
}

/**
 * Cancels a payment past its deadline, or one at the head of the lane that no node has accepted for too long.
 */
async function cancelIfHopeless(
  services: Needs,
  { used }: Round,
  slot: Slot,
  nowMs: number,
): Promise<boolean> {
  const [first] = slot.attempts;
  // What was mined and orphaned was accepted before; it is offered again, however long ago it was signed.
  const neverTaken = slot.attempts.every(({ firstBroadcastAtMs }) => firstBroadcastAtMs === undefined);
  const refused =
    first !== undefined &&
    slot.nonce === used &&
    neverTaken &&
    nowMs - first.createdAtMs > services.enginePolicy.stuckAfterMs;
  if (!refused && nowMs <= slot.cancelAfterMs) return false;
  const reason = refused ? "TRANSACTION_SUBMISSION_FAILED" : "TRANSACTION_NOT_INCLUDED";
  await services.uow.run((tx) => tx.lanes.cancel(slot.id, reason));
  services.events.alarm("slot_cancelled", {
    chainId: slot.chainId,
    nonce: slot.nonce,
    requestId: slot.leg.requestId,
    reason,
  });
  return true;
}

/**
 * Offered too long without a block, at the head of the lane or below the current base fee; or a no-op that no
 * node accepts. Rebroadcasts do not matter.
 */
function isStuck(
  slot: Slot,
  latest: Attempt,
  { used, prices }: Round,
  nowMs: number,
  stuckAfterMs: number,
): boolean {
  if (nowMs - (latest.offeredSinceMs ?? latest.createdAtMs) < stuckAfterMs) return false;
  if (latest.offeredSinceMs === undefined) return latest.kind === "noop";
  return slot.nonce === used || latest.maxFeePerGas < prices.baseFeePerGas;
}

async function replace(
  services: Needs,
  { connected, prices }: Round,
  slot: Slot,
  latest: Attempt,
  kind: Attempt["kind"],
): Promise<void> {
  const { bumpBps, maxAttempts } = services.enginePolicy;
  // A no-op ignores the cap: without it nothing behind this nonce can be mined, and it uses the minimum gas.
  const capWei = kind === "noop" ? undefined : connected.chain.fees.maxFeePerGasWei;
  const exhausted = kind === "pay" && slot.attempts.length >= maxAttempts;
  const fees = exhausted ? undefined : replacementFees(latest, prices, bumpBps, capWei);
  // At the cap, rebroadcasts the same bytes and waits for lower fees.
  if (fees === undefined) return broadcast(services, slot, latest);
  const gasLimit = kind === "pay" ? slot.gasLimit : await noopGas(connected, slot.sender);
  const attempt = await signAttempt(services, slot, kind, { ...fees, gasLimit });
  const ours = await services.uow.run(async (tx) => {
    const current = await tx.lanes.lockSlot(slot.id);
    return current?.state === "open" && (await tx.lanes.addAttempt(slot.id, attempt));
  });
  if (!ours) return;
  services.events.alarm("attempt_replaced", {
    chainId: slot.chainId,
    nonce: slot.nonce,
    requestId: slot.leg.requestId,
    kind,
    attempt: attempt.n,
    maxFeePerGas: fees.maxFeePerGas,
  });
  await broadcast(services, slot, attempt);
}

const PLAIN_TRANSFER_GAS = 21_000n;

/** Gas of an empty transfer to ourselves: 21000, more on rollups that charge data as gas. */
async function noopGas({ connection }: ConnectedChain, self: Slot["sender"]): Promise<bigint> {
  const outcome = await connection.reader.simulate(self, { to: self, data: "0x", value: 0n });
  if (outcome.kind !== "ok") return PLAIN_TRANSFER_GAS;
  return outcome.gas <= PLAIN_TRANSFER_GAS ? PLAIN_TRANSFER_GAS : outcome.gas + outcome.gas / 2n;
}
