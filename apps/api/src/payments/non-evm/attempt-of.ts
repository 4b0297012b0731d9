import type { NonEvmAttempt, NonEvmPayment } from "@causeway/chains";
import { readSweepData } from "../../deposits/index.ts";
import type { Attempt, AttemptKind, Slot } from "../../db/records.port.ts";

/** Amount of a sweep's cancel transaction in base units, above the dust limit. */
const CANCEL_AMOUNT = 1_000n;

/**
 * The purpose of the slot's bytes: to pay or, if the payment must no longer be made, to spend the same funds
 * by paying the solver itself.
 */
export function paymentOf(
  { leg, call, outflow, sender }: Pick<Slot, "leg" | "call" | "outflow" | "sender">,
  kind: AttemptKind,
): NonEvmPayment {
  const { currency, amount } = outflow;
  if (leg.kind === "sweep") {
    // The solver only pays the fee, so it cancels with any amount.
    if (kind === "noop") return { recipient: sender, currency, amount: CANCEL_AMOUNT, orderId: undefined };
    const { orderId, ...sweeps } = readSweepData(call.data);
    return { recipient: call.to, currency, amount: call.value, orderId, sweeps };
  }
  if (kind === "noop") return { recipient: sender, currency, amount, orderId: undefined };
  return { recipient: call.to, currency, amount, orderId: call.data === "0x" ? undefined : call.data };
}

export function nonEvmAttemptOf({ raw, txHash, maxFeePerGas, createdAtMs }: Attempt): NonEvmAttempt {
  return { raw, txId: txHash, fee: maxFeePerGas, madeAtMs: createdAtMs };
}

export function attemptOf(
  { raw, txId, fee, madeAtMs }: NonEvmAttempt,
  n: number,
  kind: AttemptKind,
): Attempt {
  return {
    n,
    kind,
    raw,
    txHash: txId,
    maxFeePerGas: fee,
    maxPriorityFeePerGas: 0n,
    createdAtMs: madeAtMs,
    broadcastAtMs: undefined,
    offeredSinceMs: undefined,
  };
}
