import type { RailAttempt, RailPayment } from "@causeway/chains";
import type { Hex, OrderId } from "@causeway/domain";
import type { ConnectedRail } from "../../chains/chains.port.ts";
import type { Leg } from "../../db/leg.port.ts";
import type { Attempt, AttemptKind, Slot, SlotPlan } from "../../db/records.port.ts";

/** A payment to plan on a non-EVM chain. */
export interface RailPaymentQuestion {
  readonly leg: Leg;
  readonly currency: Hex;
  readonly amount: bigint;
  readonly recipient: Hex;
  /** Undefined: it belongs to no order. */
  readonly orderId: OrderId | undefined;
  readonly cancelAfterMs: number;
  /** Expected cost in base units of the native token. */
  readonly cost: bigint;
}

/**
 * Expresses a payment as a slot: its nonce is a counter of ours, its call the recipient and order, its
 * outflow the amount, and its gas the cost, as one unit at that price.
 */
export function slotPlanOf(
  { chain, rail }: Pick<ConnectedRail, "chain" | "rail">,
  { leg, currency, amount, recipient, orderId, cancelAfterMs, cost }: RailPaymentQuestion,
): SlotPlan {
  return {
    chainId: chain.id,
    sender: rail.solver,
    leg,
    call: { to: recipient, data: orderId ?? "0x", value: 0n },
    gasLimit: 1n,
    maxFeePerGas: cost,
    maxPriorityFeePerGas: 0n,
    outflow: { currency, amount },
    cancelAfterMs,
  };
}

/**
 * What the slot's bytes do: pay, or, for a payment that must not be made any more, spend the same funds by
 * paying the solver itself.
 */
export function paymentOf({ call, outflow, sender }: Slot, kind: AttemptKind): RailPayment {
  const { currency, amount } = outflow;
  if (kind === "noop") return { recipient: sender, currency, amount, orderId: undefined };
  return { recipient: call.to, currency, amount, orderId: call.data === "0x" ? undefined : call.data };
}

export function railAttemptOf({ raw, txHash, maxFeePerGas, createdAtMs }: Attempt): RailAttempt {
  return { raw, txId: txHash, fee: maxFeePerGas, madeAtMs: createdAtMs };
}

export function attemptOf({ raw, txId, fee, madeAtMs }: RailAttempt, n: number, kind: AttemptKind): Attempt {
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
