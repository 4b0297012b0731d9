import { NATIVE_CURRENCY } from "@causeway/domain";
import { utcDay } from "../../db/utc-day.ts";
import type { Slot } from "../../db/records.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import type { Tx } from "../../db/unit-of-work.port.ts";
import { dayOf, hold, planValue, proposalOf } from "./admit-payments.ts";
import { judgeValue } from "./daily-limit.ts";
import { judgeCall } from "./judge-call.ts";
import type { Refusal } from "./limits.port.ts";
import { keyOf, limitsOfLane } from "./lane-limits.ts";
import { factsOfLeg } from "./leg-facts.ts";
import { countedUsd } from "./counted-value.ts";

/** Decides before each signature of a payment whether it may be made. */

/**
 * The origin of a payment that is to be signed.
 * - `reserved`: this process has just reserved it, so it was judged in that commit.
 * - `stored`: another process reserved it, or its origin is unknown. It must match the database's facts about
 *   its leg, and counts toward its day unless it was counted when it was reserved.
 * - `repeated`: its bytes may have been signed before. The limits on value do not apply again.
 */
type Origin = "reserved" | "stored" | "repeated";

/**
 * Whether a payment may be signed. A payment that may not is held, and its slot is canceled unless the
 * payment is repeated: an unused nonce would block the lane.
 */
export async function maySign(services: WorkerServices, slot: Slot, origin: Origin): Promise<boolean> {
  const limitRefusal = origin === "reserved" ? countInMemory(services, slot) : undefined;
  if (limitRefusal === undefined && origin === "reserved") return true;
  return await services.uow.run(async (tx) => {
    const { leg } = slot;
    const request = leg.requestId === undefined ? undefined : await tx.requests.lock(leg.requestId);
    // In the order of every commit that ends a slot: the slot, then its day.
    await tx.lanes.lockSlots([slot.id]);
    const refusal =
      limitRefusal ??
      (await judgeStored(services, tx, slot, request, origin)) ??
      // Last, so that a payment refused for another reason uses up nothing.
      (origin === "repeated" ? undefined : countInMemory(services, slot));
    if (refusal === undefined) return true;
    await hold(tx, slot, refusal, services.clock.nowMs());
    if (origin !== "repeated") await tx.lanes.cancel(slot.id, "TRANSACTION_NOT_INCLUDED");
    return false;
  });
}

async function judgeStored(
  services: WorkerServices,
  tx: Tx,
  slot: Slot,
  request: Parameters<typeof factsOfLeg>[4],
  origin: Origin,
): Promise<Refusal | undefined> {
  const proposal = proposalOf(services, slot);
  const facts = await factsOfLeg(services, tx, slot, proposal.reading, request);
  const refusal = judgeCall(proposal, facts);
  if (refusal !== undefined || origin === "repeated") return refusal;
  const { day, limits } = dayOf(services, slot);
  const spentUsd = day === undefined ? 0n : await tx.policy.lockDay(day);
  const counted = await tx.policy.countedFor(slot.id);
  const usd = planValue(services, slot, proposal, request);
  // Anyone who can write rows can mark a payment as counted: the limit per transaction applies regardless.
  const large = judgeValue(usd, 0n, { ...limits, dayUsd: undefined });
  if (large !== undefined) return large;
  // A lower daily limit does not stop payments that were reserved under a higher one.
  if (counted !== undefined && usd !== undefined && counted >= usd) return undefined;
  // The amount counted at its reservation is part of the sum.
  const over = judgeValue(usd, spentUsd - (counted ?? 0n), limits);
  if (over !== undefined) return over;
  if (day !== undefined) await tx.policy.count(day, [{ slotId: slot.id, usd: usd ?? 0n }]);
  return undefined;
}

/**
 * Counts a payment in the memory of this process, once.
 * @returns why it would exceed the daily limit; undefined: it does not
 */
function countInMemory(services: WorkerServices, slot: Slot): Refusal | undefined {
  const { spentMemory, spendingLimits, clock } = services;
  const { chainId } = slot;
  const key = keyOf(services, slot);
  const { dayUsd } = limitsOfLane(spendingLimits, { key, chainId });
  if (spentMemory === undefined || key === undefined || dayUsd === undefined) return undefined;
  const usd = planValue(services, slot, proposalOf(services, slot), undefined) ?? 0n;
  const day = utcDay(clock.nowMs());
  const sum = spentMemory.add({ payment: slot, key, day, usd, maxUsd: dayUsd });
  return judgeValue(sum, 0n, { transactionUsd: undefined, dayUsd, maxFeePerGasWei: undefined });
}

/** Gas of an empty transfer. */
const NOOP_GAS = 21_000n;

/** Counts the gas of a cancel transaction. It is never refused for that: the lane waits for its nonce. */
export function countNoop(services: WorkerServices, slot: Slot, maxFeePerGas: bigint): void {
  const { spentMemory, clock } = services;
  const { chainId, sender } = slot;
  const key = keyOf(services, slot);
  if (spentMemory === undefined || key === undefined) return;
  const gasWei = NOOP_GAS * maxFeePerGas;
  const usd = countedUsd(services, { chainId, outflows: [], gasWei, terms: undefined }) ?? 0n;
  const nothing = { currency: NATIVE_CURRENCY, amount: 0n };
  const payment = { ...slot, call: { to: sender, data: "0x", value: 0n } as const, outflow: nothing };
  spentMemory.add({ payment, key, day: utcDay(clock.nowMs()), usd, maxUsd: undefined });
}
