import type { GasPrices } from "@causeway/chains";
import type { ConnectedChain } from "../ports/chains.ts";
import type { Attempt, Slot } from "../ports/records.ts";
import type { Services } from "../ports/services.ts";
import { broadcast, sendSlot } from "./send-slot.ts";
import { signAttempt } from "./sign-attempt.ts";

type Needs = Pick<Services, "uow" | "reads" | "events" | "clock" | "signer" | "chains" | "enginePolicy">;

/** Slots looked after in one go: those in front come first, and the others get their turn. */
const WINDOW = 200;

/**
 * Takes care of a lane: sends what a dead process left unsent, sends again what nodes may have forgotten, raises the fees of what is stuck,
 * and lets a no-op use up the nonce of a payment that must not be made any more, so that nothing behind it is held up.
 * @throws RpcFault: the next round tries again.
 */
export async function nudgeLane(services: Needs, connected: ConnectedChain): Promise<void> {
  const { chain, connection, pulse } = connected;
  const { clock, enginePolicy: policy } = services;
  const slots = (await services.reads.unsettledSlots(chain.id, services.signer.address)).filter(
    ({ state }) => state === "open",
  );
  if (slots.length === 0) return;
  const used = await connection.reader.nonce(services.signer.address, "latest");
  const prices = pulse.gasPrices();
  for (const slot of slots.filter(({ nonce }) => nonce >= used).slice(0, WINDOW)) {
    const nowMs = clock.nowMs();
    const overdue = slot.cancelReason === undefined && nowMs > slot.cancelAfterMs;
    if (overdue) {
      await services.uow.run((tx) => tx.lanes.cancel(slot.id, "TRANSACTION_NOT_INCLUDED"));
      services.events.alarm("slot_cancelled", {
        chain: chain.name,
        nonce: slot.nonce,
        requestId: slot.leg.requestId,
      });
    }
    const latest = slot.attempts.at(-1);
    if (latest === undefined) {
      if (nowMs - slot.createdAtMs > policy.orphanedAfterMs) await sendSlot(services, slot.id);
    } else if ((overdue || slot.cancelReason !== undefined) && latest.kind === "pay") {
      await replace(services, slot, latest, "noop", prices, chain.fees.maxFeePerGasWei);
    } else if (latest.broadcastAtMs === undefined) {
      if (nowMs - latest.createdAtMs > policy.orphanedAfterMs) await broadcast(services, slot, latest);
    } else if (isStuck(slot, latest, used, nowMs, policy.stuckAfterMs, prices)) {
      await replace(services, slot, latest, latest.kind, prices, chain.fees.maxFeePerGasWei);
    } else if (nowMs - latest.broadcastAtMs > policy.rebroadcastIntervalMs) {
      await broadcast(services, slot, latest);
    }
  }
}

/** At the head of the lane and not mined for too long, or offering less than blocks cost now. */
function isStuck(
  slot: Slot,
  latest: Attempt,
  used: number,
  nowMs: number,
  stuckAfterMs: number,
  prices: GasPrices,
): boolean {
  if (nowMs - (latest.broadcastAtMs ?? nowMs) < stuckAfterMs) return false;
  return slot.nonce === used || latest.maxFeePerGas < prices.baseFeePerGas;
}

/** Fees that nodes accept as a replacement of `latest` and that fit today's prices; undefined when the chain's cap forbids them. */
export function replacementFees(
  latest: Pick<Attempt, "maxFeePerGas" | "maxPriorityFeePerGas">,
  prices: GasPrices,
  bumpBps: number,
  capWei: bigint,
): { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint } | undefined {
  const bump = (wei: bigint): bigint => (wei * BigInt(10_000 + bumpBps)) / 10_000n + 1n;
  const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);
  const maxFeePerGas = larger(bump(latest.maxFeePerGas), prices.maxFeePerGas);
  const maxPriorityFeePerGas = larger(bump(latest.maxPriorityFeePerGas), prices.maxPriorityFeePerGas);
  if (maxFeePerGas > capWei) return undefined;
  return {
    maxFeePerGas,
    maxPriorityFeePerGas: maxPriorityFeePerGas < maxFeePerGas ? maxPriorityFeePerGas : maxFeePerGas,
  };
}

async function replace(
  services: Needs,
  slot: Slot,
  latest: Attempt,
  kind: Attempt["kind"],
  prices: GasPrices,
  capWei: bigint,
): Promise<void> {
  const { bumpBps, maxAttempts } = services.enginePolicy;
  // A no-op is always worth one more: without it nothing behind this nonce moves.
  const exhausted = slot.attempts.length >= maxAttempts && kind === latest.kind;
  const fees = exhausted ? undefined : replacementFees(latest, prices, bumpBps, capWei);
  // At the cap nothing better can be offered: the same bytes go out again and wait for calmer blocks.
  if (fees === undefined) return broadcast(services, slot, latest);
  const attempt = await signAttempt(services, slot, kind, fees);
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
