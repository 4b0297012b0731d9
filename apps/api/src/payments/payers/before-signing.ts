import type { FeeCaps } from "@causeway/chains";
import type { LaneChain } from "../../chains/chains.port.ts";
import type { Slot } from "../../db/records.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import { kindOf } from "../legs/index.ts";
import { cappedFees, keyOf, limitsOfLane } from "../policy/lane-limits.ts";
import { maySign } from "../policy/may-sign.ts";
import { isGenuine, isSignedPayment } from "../policy/signed-payment.ts";
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

/** No fee exceeds the current one by more than this factor, unless the chain's configuration allows it. */
const MAX_FEE_FACTOR = 10n;

/** The highest fee that may be signed at these prices, wei. @param capWei of the chain's configuration */
export function maxFee({ maxFeePerGas }: FeeCaps, capWei: bigint | undefined): bigint {
  const usual = maxFeePerGas * MAX_FEE_FACTOR;
  return capWei !== undefined && capWei > usual ? capWei : usual;
}

/**
 * The fees of an attempt within the key's limit, and within what the chain asks for. A first attempt is
 * signed with the limit instead, and waits for lower prices. Only bytes that the key signed show that a
 * replacement needs more than the chain asks for: rows do not.
 * @param maxFeePerGasWei see {@link maxFee}; undefined: not known
 * @returns undefined: the limit forbids a replacement
 */
export async function limitedFees(
  services: WorkerServices,
  { slot, move: { fees = slot } }: ToSign,
  maxFeePerGasWei: bigint | undefined,
): Promise<FeeCaps | undefined> {
  const key = keyOf(services, slot);
  const limits = limitsOfLane(services.spendingLimits, { key, chainId: slot.chainId });
  const last = slot.attempts.at(-1);
  const isSigned = last !== undefined && (await isGenuine(services, slot, last));
  const usual = isSigned ? fees : cappedFees(fees, { ...limits, maxFeePerGasWei });
  const capped = cappedFees(usual, limits);
  return last !== undefined && capped.maxFeePerGas < fees.maxFeePerGas ? undefined : capped;
}
