import type { NonEvmAttempt, NonEvmPayment } from "@causeway/chains";
import type { Attempt, AttemptKind, Slot } from "../../db/records.port.ts";

/**
 * What the slot's bytes do: pay, or, for a payment that must not be made any more, spend the same funds by
 * paying the solver itself.
 */
export function paymentOf({ call, outflow, sender }: Slot, kind: AttemptKind): NonEvmPayment {
  const { currency, amount } = outflow;
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
