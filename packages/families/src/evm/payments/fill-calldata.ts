import { encodeFunctionData, erc20Abi } from "viem";
import { routerAbi } from "@causeway/contracts";
import { NATIVE_CURRENCY, type Address, type Hex, type OrderId } from "@causeway/domain";
import type { CallPlan } from "../port.ts";

/** Payments whose transaction input ends with the order id, as every check of a fill requires. Pure. */

export interface Payment {
  /** Zero address = native. */
  readonly currency: Address;
  readonly recipient: Address;
  /** Base units. */
  readonly amount: bigint;
  readonly orderId: OrderId;
}

/**
 * The call that makes one payment. The native token is sent directly to an account without code, with the id
 * as the whole input. A contract would interpret the id as a function call, so the router pays contracts,
 * and its event reports the amount.
 */
export function paymentCall(payment: Payment, recipientHasCode: boolean, router: Address): CallPlan {
  const { currency, recipient, amount, orderId } = payment;
  if (currency !== NATIVE_CURRENCY) {
    const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [recipient, amount] });
    return { to: currency, data: withOrderId(data, orderId), value: 0n };
  }
  if (!recipientHasCode) return { to: recipient, data: withOrderId("0x", orderId), value: amount };
  const data = encodeFunctionData({
    abi: routerAbi,
    functionName: "nativeTransfer",
    args: [recipient, amount],
  });
  return { to: router, data: withOrderId(data, orderId), value: amount };
}

/** The call that makes a payment without an id: a native transfer, or the token's `transfer`. */
export function transferCall(currency: Address, recipient: Address, amount: bigint): CallPlan {
  if (currency === NATIVE_CURRENCY) return { to: recipient, data: "0x", value: amount };
  const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [recipient, amount] });
  return { to: currency, data, value: 0n };
}

export interface RouterCalls {
  readonly calls: readonly (CallPlan & { readonly allowFailure?: boolean })[];
  /** Receives the remaining native tokens and `refundTokens`. */
  readonly refundTo: Address;
  readonly refundTokens: readonly Address[];
  /** Native value of the transaction; at least the sum of the calls' values. */
  readonly value: bigint;
  readonly orderId: OrderId;
}

/** Several calls, in order, in one transaction to the router. */
export function routerCall(router: Address, plan: RouterCalls): CallPlan {
  const calls = plan.calls.map(({ to, data, value, allowFailure }) => ({
    to,
    data,
    value,
    allowFailure: allowFailure ?? false,
  }));
  const data = encodeFunctionData({
    abi: routerAbi,
    functionName: "multicall",
    args: [calls, plan.refundTo, [...plan.refundTokens]],
  });
  return { to: router, data: withOrderId(data, plan.orderId), value: plan.value };
}

/** A call of the router to itself that pays the native token inside {@link routerCall}. */
export function nativeTransferCall(router: Address, to: Address, amount: bigint): CallPlan {
  const data = encodeFunctionData({ abi: routerAbi, functionName: "nativeTransfer", args: [to, amount] });
  return { to: router, data, value: amount };
}

/**
 * Calldata followed by the order id; contracts ignore bytes after their arguments.
 *
 * @throws RangeError if the id has another length
 */
export function withOrderId(data: Hex, orderId: OrderId): Hex {
  if (!/^0x[0-9a-f]{64}$/i.test(orderId))
    throw new RangeError("invariant violated: order id is not 32 bytes");
  return `${data}${orderId.slice(2)}`;
}
