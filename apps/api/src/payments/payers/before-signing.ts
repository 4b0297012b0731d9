import type { FeeCaps } from "@causeway/chains";
import type { LaneChain } from "../../chains/chains.port.ts";
import type { Slot } from "../../db/records.port.ts";
import type { WorkerServices } from "../../db/services.port.ts";
import { kindOf } from "../legs/index.ts";
import { capFees, keyOf, limitsOfLane } from "../policy/lane-limits.ts";
import { maySign } from "../policy/may-sign.ts";
import { isGenuine, isSignedPayment } from "../policy/signed-payment.ts";
import type { ToSign } from "./payer.ts";

/** Decides what an EVM key signs for a slot: its payment, or a cancel transaction, and with which fees. */

/**
 * Decides before each signature between the slot's payment and a cancel transaction. A slot that this process
 * did not just reserve may stem from another configuration or process: unless this key already signed its
 * payment, the payment is judged again.
 */
export async function chooseWhatToSign(
  services: WorkerServices,
  connected: LaneChain,
  slotToSign: ToSign,
): Promise<ToSign> {
  const { slot, isNew, move } = slotToSign;
  if (move.attempt === "noop" || (await hasSigned(slot))) return slotToSign;
  const noop = { ...slotToSign, move: { ...move, attempt: "noop" } } as const;
  if (slot.cancelReason !== undefined) return noop;
  if (isNew !== true && (await kindOf(slot).isForbidden?.(services, connected, slot)) === true) {
    await services.uow.run((tx) => tx.lanes.cancel(slot.id, "TRANSACTION_SUBMISSION_FAILED"));
    return noop;
  }
  return (await maySign(services, slot, isNew === true ? "reserved" : "stored")) ? slotToSign : noop;
}

/** Whether this key has already signed this payment: signing it with another fee then moves no more funds. */
async function hasSigned(slot: Slot): Promise<boolean> {
  for (const { kind, raw } of slot.attempts)
    if (kind === "pay" && (await isSignedPayment(raw, slot))) return true;
  return false;
}

/** No fee exceeds the current one by more than this factor, unless the chain's configuration allows it. */
const MAX_FEE_FACTOR = 10n;

/**
 * The highest fee that may be signed, wei per gas.
 * @param current the fees that the chain asks for now
 * @param capWei the fee cap in the chain's configuration
 */
export function maxFee(current: FeeCaps, capWei: bigint | undefined): bigint {
  const factorCap = current.maxFeePerGas * MAX_FEE_FACTOR;
  return capWei !== undefined && capWei > factorCap ? capWei : factorCap;
}

/**
 * Caps the fees of an attempt at the key's limit, and at `maxFeePerGasWei` unless it replaces a transaction
 * that the key signed: a database row alone does not justify a higher fee. A capped first attempt is still
 * signed, and waits for lower prices.
 * @param maxFeePerGasWei see {@link maxFee}; undefined: not known
 * @returns undefined: a replacement within the limits is not possible
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
  const allowed = isSigned ? fees : capFees(fees, { ...limits, maxFeePerGasWei });
  const capped = capFees(allowed, limits);
  return last !== undefined && capped.maxFeePerGas < fees.maxFeePerGas ? undefined : capped;
}
