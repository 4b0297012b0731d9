import type { RailAttempt, RailPayment } from "@causeway/chains";
import type { Hex, OrderId } from "@causeway/domain";
import type { ConnectedRail } from "../../chains/chains.port.ts";
import type { Leg } from "../../db/leg.port.ts";
import type { Attempt, AttemptKind, Slot, SlotPlan } from "../../db/records.port.ts";
import type { LaneWrites } from "../../db/unit-of-work.port.ts";

/** What is to be paid on a chain that is reached by a rail. */
export interface RailPaymentQuestion {
  readonly leg: Leg;
  readonly currency: Hex;
  readonly amount: bigint;
  readonly recipient: Hex;
  /** Undefined: it is for no order. */
  readonly orderId: OrderId | undefined;
  readonly cancelAfterMs: number;
  /** Smallest units of the native coin that it is reckoned to cost. */
  readonly cost: bigint;
}

/** Before the database nothing is below it. */
const NO_BLOCK = -1n;

/**
 * A payment as a slot of the rail's lane: the slot's nonce is a running number of ours, its call says whom
 * and for what, its outflow how much, and its gas what it costs beside that, one unit at that price.
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
 * What the slot's bytes are to do: pay, or, where the payment must not be made any more, use up what it would
 * spend by paying the solver himself.
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

/**
 * Whether the solver's balances bear this payment and its cost beside everything that is not final. Call with
 * the lane locked: only then can no other payment slip in between. What is mined counts until it is final,
 * for balances do not say which of it they show.
 */
export async function hasInventory(
  tx: { readonly lanes: Pick<LaneWrites, "reserved"> },
  { chain, pulse }: ConnectedRail,
  plan: SlotPlan,
): Promise<boolean> {
  const native = chain.native.address;
  const { currency, amount } = plan.outflow;
  const reserved = await tx.lanes.reserved(chain.id, plan.sender, native, NO_BLOCK);
  const cost = reserved.gasWei + plan.gasLimit * plan.maxFeePerGas;
  if (currency === native) return pulse.solverBalance(native) >= reserved.amount + cost + amount;
  // Where payments cost nothing, nobody needs the coin.
  if (cost > 0n && pulse.solverBalance(native) < reserved.amount + cost) return false;
  const tokens = await tx.lanes.reserved(chain.id, plan.sender, currency, NO_BLOCK);
  return pulse.solverBalance(currency) >= tokens.amount + amount;
}
