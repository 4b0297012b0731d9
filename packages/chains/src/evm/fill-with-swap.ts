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

/** Fills that pay in another currency than the solver spends: swap and payment in one transaction. Pure. */

export interface FillWithSwap {
  readonly payment: Payment;
  /** The currency that the solver spends, at most `limit` of it; zero address = native. */
  readonly paidFrom: Address;
  readonly limit: bigint;
  /** The wrapped native token, one for one; undefined: neither currency is native. */
  readonly wrappedNative: Address | undefined;
  /**
   * The router makes these calls once it holds the input. They buy exactly the payment for the router. Empty
   * if the two currencies differ only by wrapping.
   */
  readonly swapCalls: readonly CallPlan[];
  /** Native tokens that the recipient of a token gets in addition, in wei; absent: none. */
  readonly topup?: bigint | undefined;
  /** The account that sends the transaction and gets the remainder. */
  readonly solver: Address;
  readonly router: Address;
  /** The contract that pulls the solver's approved tokens into the router. */
  readonly approvalProxy: Address;
}

/**
 * The transaction; its input ends with the order id, and it never spends more than `limit`. The router buys
 * the payment and makes it itself: oracles do not count what a pool sends to the recipient. For a payment in
 * a token, the recipient's balance is noted before and checked afterwards. The remainder of the input is
 * returned to the solver before native tokens are paid: their recipient could take it from the router.
 * A gas top-up comes last, when the router holds nothing else.
 * @throws RangeError if the native token is swapped on a chain without its wrapped token, or topped up in
 * addition to a payment in or from itself
 */
export function fillWithSwap(fill: FillWithSwap): CallPlan {
  const { payment, paidFrom, limit, swapCalls, solver, router, approvalProxy, topup } = fill;
  const { currency, recipient, amount, orderId } = payment;
  const toRouter = (data: Hex): CallPlan => ({ to: router, data, value: 0n });
  if (topup !== undefined && (paidFrom === NATIVE_CURRENCY || currency === NATIVE_CURRENCY))
    throw new RangeError("invariant violated: native top-up without a token input");
  const wrapInput = paidFrom === NATIVE_CURRENCY ? [toRouter(wrapBalance(wrappedOf(fill)))] : [];
  const calls =
    currency === NATIVE_CURRENCY
      ? [
          ...wrapInput,
          ...swapCalls,
          ...(paidFrom === wrappedOf(fill) ? [] : [toRouter(payBalance(paidFrom, solver))]),
          toRouter(unwrapBalance(wrappedOf(fill), amount)),
          nativeTransferCall(router, recipient, amount),
        ]
      : [
          toRouter(
            encodeFunctionData({ abi: routerAbi, functionName: "noteBalance", args: [currency, recipient] }),
          ),
          ...wrapInput,
          ...swapCalls,
          transferCall(currency, recipient, amount),
          ...(paidFrom === NATIVE_CURRENCY ? [toRouter(unwrapBalance(wrappedOf(fill), 0n))] : []),
          toRouter(
            encodeFunctionData({
              abi: routerAbi,
              functionName: "requireReceived",
              args: [currency, recipient, amount],
            }),
          ),
          ...(topup === undefined
            ? []
            : [toRouter(payBalance(paidFrom, solver)), nativeTransferCall(router, recipient, topup)]),
        ];
  if (paidFrom === NATIVE_CURRENCY)
    return routerCall(router, { calls, refundTo: solver, refundTokens: [], value: limit, orderId });
  const routedCalls = calls.map((call) => ({ ...call, allowFailure: false }));
  const data = encodeFunctionData({
    abi: approvalProxyAbi,
    functionName: "pullAndRoute",
    args: [paidFrom, limit, routedCalls, solver, []],
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
