import { approvalProxyAbi, routerAbi } from "@causeway/contracts";
import { NATIVE_CURRENCY, type Address, type Hex } from "@causeway/domain";
import { encodeFunctionData } from "viem";
import {
  nativeTransferCall,
  routerCall,
  transferCall,
  withOrderId,
  type CallPlan,
  type Payment,
} from "@causeway/families/evm";

/**
 * Fills that pay in another currency than the solver spends: exchanged, and paid, in one transaction. Pure.
 */

export interface FillWithSwap {
  readonly payment: Payment;
  /** What the solver spends, of which at most `limit`; zero address = native. */
  readonly paidFrom: Address;
  readonly limit: bigint;
  /** The token that is the chain's native coin, one for one; undefined: neither currency is native. */
  readonly wrappedNative: Address | undefined;
  /**
   * Made by the router, which holds the input then: buys exactly the payment, for the router. None where both
   * are the same but for wrapping.
   */
  readonly exchange: readonly CallPlan[];
  /** Native coin that the recipient of a token gets beside it, wei; absent: none. */
  readonly topup?: bigint | undefined;
  /** Sends the transaction, and gets what is left. */
  readonly solver: Address;
  readonly router: Address;
  /** Pulls tokens of the solver, who has approved them to it, into the router. */
  readonly approvalProxy: Address;
}

/**
 * The transaction; its input ends with the order id, and it never spends more than `limit`. The router buys
 * the payment and pays it itself: oracles count nothing that a pool sends to the recipient. A payment in a
 * token is noted before and required to have been received afterwards. What is left of the input goes back to
 * the solver before a recipient of native is called: from the router others might take it. A gas top-up comes
 * last, when the router holds nothing else.
 * @throws RangeError when native coin is exchanged on a chain without its wrapped token, or is to be paid
 * beside or out of itself
 */
export function fillWithSwap(fill: FillWithSwap): CallPlan {
  const { payment, paidFrom, limit, exchange, solver, router, approvalProxy, topup } = fill;
  const { currency, recipient, amount, orderId } = payment;
  const ofRouter = (data: Hex): CallPlan => ({ to: router, data, value: 0n });
  if (topup !== undefined && (paidFrom === NATIVE_CURRENCY || currency === NATIVE_CURRENCY))
    throw new RangeError("invariant violated: native top-up without a token input");
  const before = paidFrom === NATIVE_CURRENCY ? [ofRouter(wrapBalance(wrappedOf(fill)))] : [];
  const calls =
    currency === NATIVE_CURRENCY
      ? [
          ...before,
          ...exchange,
          ...(paidFrom === wrappedOf(fill) ? [] : [ofRouter(payBalance(paidFrom, solver))]),
          ofRouter(unwrapBalance(wrappedOf(fill), amount)),
          nativeTransferCall(router, recipient, amount),
        ]
      : [
          ofRouter(
            encodeFunctionData({ abi: routerAbi, functionName: "noteBalance", args: [currency, recipient] }),
          ),
          ...before,
          ...exchange,
          transferCall(currency, recipient, amount),
          ...(paidFrom === NATIVE_CURRENCY ? [ofRouter(unwrapBalance(wrappedOf(fill), 0n))] : []),
          ofRouter(
            encodeFunctionData({
              abi: routerAbi,
              functionName: "requireReceived",
              args: [currency, recipient, amount],
            }),
          ),
          ...(topup === undefined
            ? []
            : [ofRouter(payBalance(paidFrom, solver)), nativeTransferCall(router, recipient, topup)]),
        ];
  if (paidFrom === NATIVE_CURRENCY)
    return routerCall(router, { calls, refundTo: solver, refundTokens: [], value: limit, orderId });
  const made = calls.map((call) => ({ ...call, allowFailure: false }));
  const data = encodeFunctionData({
    abi: approvalProxyAbi,
    functionName: "pullAndRoute",
    args: [paidFrom, limit, made, solver, []],
  });
  return { to: approvalProxy, data: withOrderId(data, orderId), value: topup ?? 0n };
}

function wrappedOf({ wrappedNative }: FillWithSwap): Address {
  if (wrappedNative === undefined)
    throw new RangeError("invariant violated: chain has no wrapped native token");
  return wrappedNative;
}

const wrapBalance = (wrapped: Address): Hex =>
  encodeFunctionData({ abi: routerAbi, functionName: "wrapBalance", args: [wrapped] });
const unwrapBalance = (wrapped: Address, minimum: bigint): Hex =>
  encodeFunctionData({ abi: routerAbi, functionName: "unwrapBalance", args: [wrapped, minimum] });
const payBalance = (currency: Address, to: Address): Hex =>
  encodeFunctionData({ abi: routerAbi, functionName: "payBalance", args: [currency, to, 0n] });
