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

/**
 * Fills whose whole output goes to calls, in one transaction; what is left of it goes to the recipient. Pure.
 */

export interface FillThroughCalls {
  /** `amount` is what the calls get, `recipient` who gets the rest. */
  readonly payment: Payment;
  /** Made by the router, in order; all must succeed. */
  readonly calls: readonly CallPlan[];
  /**
   * Less than this must not be left. Undefined: nothing is paid by a call of its own, and whatever is left
   * all the same is sent on.
   */
  readonly minLeft: bigint | undefined;
  /** How the output comes about; undefined: the solver has it. */
  readonly exchanged?: {
    /** What the solver spends, of which at most `limit`; zero address = native. */
    readonly paidFrom: Address;
    readonly limit: bigint;
    /** The token that is the chain's native coin, one for one; undefined: neither currency is native. */
    readonly wrappedNative: Address | undefined;
    /** Made by the router, which holds the input then, and is to get exactly the payment. */
    readonly exchange: readonly CallPlan[];
  };
  /** Sends the transaction, and gets what an exchange leaves. */
  readonly solver: Address;
  readonly router: Address;
  /** Pulls tokens of the solver, who has approved them to it, into the router. */
  readonly approvalProxy: Address;
}

/**
 * The transaction; its input ends with the order id. What an exchange leaves is the solver's, and paid to him
 * before anybody else's calls are made. The rest of the output is paid by the router: native coin with its
 * event, a token between a note of the recipient's balance and the demand that it has grown.
 * @throws RangeError when native coin is exchanged on a chain without its wrapped token
 */
export function fillThroughCalls(fill: FillThroughCalls): CallPlan {
  const { payment, calls, minLeft, exchanged, solver, router, approvalProxy } = fill;
  const { currency, recipient, amount, orderId } = payment;
  const ofRouter = (data: Hex): CallPlan => ({ to: router, data, value: 0n });
  const isGuarded = currency !== NATIVE_CURRENCY && minLeft !== undefined && minLeft > 0n;
  const made = [
    ...(isGuarded ? [ofRouter(noteBalance(currency, recipient))] : []),
    ...(exchanged === undefined ? [] : exchangeOf(currency, exchanged, solver, ofRouter)),
    ...calls,
    ...(minLeft === undefined ? [] : [ofRouter(payBalance(currency, recipient, minLeft))]),
    ...(isGuarded ? [ofRouter(requireReceived(currency, recipient, minLeft))] : []),
  ];
  const spent = exchanged?.paidFrom ?? currency;
  const most = exchanged?.limit ?? amount;
  // Whatever else is left then came out of the calls: it is the recipient's.
  const refundTokens = currency === NATIVE_CURRENCY ? [] : [currency];
  if (spent === NATIVE_CURRENCY)
    return routerCall(router, { calls: made, refundTo: recipient, refundTokens, value: most, orderId });
  const data = encodeFunctionData({
    abi: approvalProxyAbi,
    functionName: "pullAndRoute",
    args: [spent, most, made.map((call) => ({ ...call, allowFailure: false })), recipient, refundTokens],
  });
  return { to: approvalProxy, data: withOrderId(data, orderId), value: 0n };
}

function exchangeOf(
  currency: Address,
  { paidFrom, wrappedNative, exchange }: NonNullable<FillThroughCalls["exchanged"]>,
  solver: Address,
  ofRouter: (data: Hex) => CallPlan,
): readonly CallPlan[] {
  const wrapped = (): Address => {
    if (wrappedNative === undefined)
      throw new RangeError("invariant violated: chain has no wrapped native token");
    return wrappedNative;
  };
  if (paidFrom === NATIVE_CURRENCY) {
    const before = ofRouter(wrapBalance(wrapped()));
    // One for one: there is nothing to give back.
    if (currency === wrappedNative) return [before];
    return [
      before,
      ...exchange,
      ofRouter(unwrapBalance(wrapped(), 0n)),
      ofRouter(payBalance(NATIVE_CURRENCY, solver, 0n)),
    ];
  }
  if (currency === NATIVE_CURRENCY && paidFrom === wrappedNative)
    return [ofRouter(unwrapBalance(wrapped(), 0n))];
  return [
    ...exchange,
    ofRouter(payBalance(paidFrom, solver, 0n)),
    ...(currency === NATIVE_CURRENCY ? [ofRouter(unwrapBalance(wrapped(), 0n))] : []),
  ];
}

/**
 * What such a fill left for its recipient, by the last that its router tells: only where `minLeft` was
 * given.
 */
export function leftInFill(
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
