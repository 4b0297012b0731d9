import type { FeeCaps } from "@causeway/chains";
import type { LaneChain } from "../../chains/chains.port.ts";
import type { Slot } from "../../db/records.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import { kindOf } from "../legs/index.ts";
import { cappedFees, keyOf, limitsOfLane } from "../policy/lane-limits.ts";
import { maySign } from "../policy/may-sign.ts";
import { isSignedPayment } from "../policy/signed-payment.ts";
import type { ToSign } from "./payer.ts";

/** Decides what an EVM key signs for a slot: its payment, or a cancel transaction, and with which fees. */

/**
 * Checked before each signature. A slot that was not just planned may have been reserved under another
 * configuration, or by someone else: without a payment that this key signed before, it is judged anew.
 */
export async function checkedToSign(
  services: WorkerServices,
  connected: LaneChain,
  one: ToSign,
): Promise<ToSign> {
  const { slot, isNew, move } = one;
  if (move.attempt === "noop" || (await hasSigned(slot))) return one;
  const noop = { ...one, move: { ...move, attempt: "noop" } } as const;
  if (slot.cancelReason !== undefined) return noop;
  if (isNew !== true && (await kindOf(slot).isForbidden?.(services, connected, slot)) === true) {
    await services.uow.run((tx) => tx.lanes.cancel(slot.id, "TRANSACTION_SUBMISSION_FAILED"));
    return noop;
  }
  return (await maySign(services, slot, isNew === true ? "reserved" : "stored")) ? one : noop;
}

/** Whether this key has signed this very payment: then signing it with another fee moves nothing more. */
async function hasSigned(slot: Slot): Promise<boolean> {
  for (const { kind, raw } of slot.attempts)
    if (kind === "pay" && (await isSignedPayment(raw, slot))) return true;
  return false;
}

/**
 * The fees of an attempt within the key's limit. A first attempt is signed with the limit instead, and waits
 * for lower prices.
 * @returns undefined: the limit forbids a replacement
 */
export function limitedFees(
  services: WorkerServices,
  { slot, move: { fees = slot } }: ToSign,
): FeeCaps | undefined {
  const key = keyOf(services, slot);
  const limits = limitsOfLane(services.spendingLimits, { key, chainId: slot.chainId });
  const capped = cappedFees(fees, limits);
  return slot.attempts.length > 0 && capped.maxFeePerGas < fees.maxFeePerGas ? undefined : capped;
}
