import { approvalProxyAbi, routerAbi } from "@causeway/contracts";
import { NATIVE_CURRENCY, type Address, type FrameLog, type Hex } from "@causeway/domain";
import { encodeFunctionData } from "viem";
import {
  addressOfTopic,
  addressOfWord,
  routerCall,
  SOLVER_NATIVE_TRANSFER_TOPIC,
  TRANSFER_TOPIC,
  withOrderId,
  splitWords,
  type CallPlan,
  type Payment,
} from "@causeway/families/evm";

/** Fills whose whole output goes to calls, in one transaction; the remainder goes to the recipient. Pure. */

export interface FillThroughCalls {
  /** `amount` is available to the calls, and `recipient` gets the remainder. */
  readonly payment: Payment;
  /** The router makes these calls in order; all must succeed. */
  readonly calls: readonly CallPlan[];
  /** The minimum remainder. Undefined: no payment is required, and any remainder goes to the recipient. */
  readonly minLeft: bigint | undefined;
  /** The source of the output; undefined: the solver's own balance. */
  readonly swap?: {
    /** The currency that the solver spends, at most `limit` of it; zero address = native. */
    readonly paidFrom: Address;
    readonly limit: bigint;
    /** The wrapped native token, one for one; undefined: neither currency is native. */
    readonly wrappedNative: Address | undefined;
    /** Made by the router, which holds the input by then and must receive exactly the payment. */
    readonly swapCalls: readonly CallPlan[];
  };
  /** The account that sends the transaction and gets the remainder of a swap. */
  readonly solver: Address;
  readonly router: Address;
  /** The contract that pulls the solver's approved tokens into the router. */
  readonly approvalProxy: Address;
}

/**
 * The transaction; its input ends with the order id. The remainder of the swap is paid to the solver before
 * any other calls are made. The router pays the rest of the output: native tokens with its event; a token
 * after it noted the recipient's balance, followed by a check that the balance has grown.
 * @throws RangeError if the native token is swapped on a chain without its wrapped token
 */
export function fillThroughCalls(fill: FillThroughCalls): CallPlan {
  const { payment, calls, minLeft, swap, solver, router, approvalProxy } = fill;
  const { currency, recipient, amount, orderId } = payment;
  const toRouter = (data: Hex): CallPlan => ({ to: router, data, value: 0n });
  const isGuarded = currency !== NATIVE_CURRENCY && minLeft !== undefined && minLeft > 0n;
  const routedCalls = [
    ...(isGuarded ? [toRouter(noteBalance(currency, recipient))] : []),
    ...(swap === undefined ? [] : swapStepsOf(currency, swap, solver, toRouter)),
    ...calls,
    ...(minLeft === undefined ? [] : [toRouter(payBalance(currency, recipient, minLeft))]),
    ...(isGuarded ? [toRouter(requireReceived(currency, recipient, minLeft))] : []),
  ];
  const spent = swap?.paidFrom ?? currency;
  const maxSpend = swap?.limit ?? amount;
  // The swap's remainder was paid above. Any other remainder comes from the calls, so it belongs to the
  // recipient.
  const refundTokens = currency === NATIVE_CURRENCY ? [] : [currency];
  if (spent === NATIVE_CURRENCY)
    return routerCall(router, {
      calls: routedCalls,
      refundTo: recipient,
      refundTokens,
      value: maxSpend,
      orderId,
    });
  const data = encodeFunctionData({
    abi: approvalProxyAbi,
    functionName: "pullAndRoute",
    args: [
      spent,
      maxSpend,
      routedCalls.map((call) => ({ ...call, allowFailure: false })),
      recipient,
      refundTokens,
    ],
  });
  return { to: approvalProxy, data: withOrderId(data, orderId), value: 0n };
}

function swapStepsOf(
  currency: Address,
  { paidFrom, wrappedNative, swapCalls }: NonNullable<FillThroughCalls["swap"]>,
  solver: Address,
  toRouter: (data: Hex) => CallPlan,
): readonly CallPlan[] {
  const requireWrappedNative = (): Address => {
    if (wrappedNative === undefined)
      throw new RangeError("invariant violated: chain has no wrapped native token");
    return wrappedNative;
  };
  if (paidFrom === NATIVE_CURRENCY) {
    const wrapInput = toRouter(wrapBalance(requireWrappedNative()));
    // Wrapping is one for one, without a remainder.
    if (currency === wrappedNative) return [wrapInput];
    return [
      wrapInput,
      ...swapCalls,
      toRouter(unwrapBalance(requireWrappedNative(), 0n)),
      toRouter(payBalance(NATIVE_CURRENCY, solver, 0n)),
    ];
  }
  if (currency === NATIVE_CURRENCY && paidFrom === wrappedNative)
    return [toRouter(unwrapBalance(requireWrappedNative(), 0n))];
  return [
    ...swapCalls,
    toRouter(payBalance(paidFrom, solver, 0n)),
    ...(currency === NATIVE_CURRENCY ? [toRouter(unwrapBalance(requireWrappedNative(), 0n))] : []),
  ];
}

/**
 * The remainder that a fill with `minLeft` paid its recipient, according to the router's last event.
 */
export function remainderInFill(
  logs: readonly FrameLog[],
  { payment: { currency, recipient }, router }: Pick<FillThroughCalls, "payment" | "router">,
): bigint {
  const amounts = logs.flatMap((log) => {
    const words = splitWords(log.data);
    if (currency === NATIVE_CURRENCY)
      return log.address === router &&
        log.topics[0] === SOLVER_NATIVE_TRANSFER_TOPIC &&
        words?.length === 2 &&
        addressOfWord(words[0]) === recipient
        ? [words[1] ?? 0n]
        : [];
    return log.address === currency &&
      log.topics[0] === TRANSFER_TOPIC &&
      addressOfTopic(log.topics[1]) === router &&
      addressOfTopic(log.topics[2]) === recipient
      ? [words?.[0] ?? 0n]
      : [];
  });
  return amounts.at(-1) ?? 0n;
}

const noteBalance = (currency: Address, account: Address): Hex =>
  encodeFunctionData({ abi: routerAbi, functionName: "noteBalance", args: [currency, account] });
const requireReceived = (currency: Address, account: Address, amount: bigint): Hex =>
  encodeFunctionData({ abi: routerAbi, functionName: "requireReceived", args: [currency, account, amount] });
const payBalance = (currency: Address, to: Address, minimum: bigint): Hex =>
  encodeFunctionData({ abi: routerAbi, functionName: "payBalance", args: [currency, to, minimum] });
const wrapBalance = (wrapped: Address): Hex =>
  encodeFunctionData({ abi: routerAbi, functionName: "wrapBalance", args: [wrapped] });
const unwrapBalance = (wrapped: Address, minimum: bigint): Hex =>
  encodeFunctionData({ abi: routerAbi, functionName: "unwrapBalance", args: [wrapped, minimum] });
