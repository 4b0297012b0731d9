import type { Hex } from "../ids/hex.ts";
import type { Order, OrderRefund } from "./order.ts";
import { scaledMinimum, weightedDifference } from "./weighted-difference.ts";

// What oracles require of a refund. The service follows the same rule (`quote/refund-amount.ts`).

/** Signed messages carry the weighted difference as an int256. */
const INT256_LIMIT = 1n << 255n;

/** Whether a signed message can carry the difference. */
export function fitsMessage(difference: bigint): boolean {
  return difference < INT256_LIMIT && difference >= -INT256_LIMIT;
}

/** The payment that a refund of one input requires. Addresses are bytes. */
export interface RefundDemand {
  /** Name of the chain. */
  readonly chainId: string;
  readonly currency: Hex;
  readonly recipient: Hex;
  /** Base units. */
  readonly minimum: bigint;
  /** Unix seconds: the latest time of the payment's block. */
  readonly deadline: number;
}

/**
 * The payment that one refund option requires. An option that names the native currency as its recipient pays
 * the depositor.
 * @param native native currency of the option's chain, as bytes
 * @param depositor as bytes
 * @param difference see `weightedDifference`
 */
export function refundDemand(
  option: OrderRefund,
  native: Hex,
  depositor: Hex,
  difference: bigint,
): RefundDemand {
  const { chainId, currency, deadline } = option;
  const isToDepositor = option.recipient === native;
  return {
    chainId,
    currency,
    recipient: isToDepositor ? depositor : option.recipient,
    minimum: scaledMinimum(option.minimumAmount, difference),
    deadline,
  };
}

/** The facts of a deposit that its refund depends on. */
export interface RefundableDeposit {
  /** Name of the chain. */
  readonly chainId: string;
  readonly currency: Hex;
  readonly depositor: Hex;
  readonly amount: bigint;
}

export type RefundRule =
  | { readonly kind: "attestable"; readonly demand: RefundDemand }
  /** No payment for this deposit can be attested under its order. */
  | { readonly kind: "unattestable"; readonly reason: string };

/**
 * The payment that oracles require as the refund of a deposit under an order with one input.
 * @param native native currency of the deposit's chain, as bytes
 */
export function refundRule(order: Order, native: Hex, deposit: RefundableDeposit): RefundRule {
  const unattestable = (reason: string) => ({ kind: "unattestable", reason }) as const;
  const [input, ...otherInputs] = order.inputs;
  const option = input?.refunds[0];
  if (input === undefined || otherInputs.length > 0)
    return unattestable("the order does not have exactly one input");
  if (option === undefined) return unattestable("the order has no refund option");
  if (input.payment.chainId !== deposit.chainId)
    return unattestable("the deposit is not on the chain of the order's input");
  if (input.payment.currency !== deposit.currency)
    return unattestable("the deposit is not in the currency of the order's input");
  if (input.payment.amount * input.payment.weight === 0n)
    return unattestable("the amount or the weight of the order's input is zero");
  const difference = weightedDifference(order, [deposit.amount]);
  if (!fitsMessage(difference)) return unattestable("the deposit is too large in proportion to the order");
  const demand = refundDemand(option, native, deposit.depositor, difference);
  if (demand.chainId !== deposit.chainId || demand.currency !== deposit.currency)
    return unattestable("the currency or chain of the order's refund differs from that of the deposit");
  return { kind: "attestable", demand };
}
