import { approvalProxyAbi, routerAbi } from "@causeway/contracts";
import {
  NATIVE_CURRENCY,
  type Address,
  type FrameLog,
  type Hex,
  type SimulationFailure,
} from "@causeway/domain";
import { encodeFunctionData, getAbiItem, toFunctionSelector } from "viem";
import {
  addressOfTopic,
  keptPayment,
  nativeTransferCall,
  routerCall,
  TRANSFER_TOPIC,
  transferCall,
  withOrderId,
  splitWords,
  type CallPlan,
  type InnerCall,
  type Payment,
} from "@causeway/families/evm";

/** Fills that make calls after their payment, in one transaction. Pure. */

/** keccak256 of `Approval(address,address,uint256)`. */
const APPROVAL_TOPIC: Hex = "0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925";

const NATIVE_TRANSFER = toFunctionSelector(getAbiItem({ abi: routerAbi, name: "nativeTransfer" }));
const NOTE_BALANCE = toFunctionSelector(getAbiItem({ abi: routerAbi, name: "noteBalance" }));
const REQUIRE_RECEIVED = toFunctionSelector(getAbiItem({ abi: routerAbi, name: "requireReceived" }));

export interface FillWithCalls {
  readonly payment: Payment;
  /** The router makes these calls in order, after the payment; all must succeed. */
  readonly calls: readonly CallPlan[];
  /** The account that sends the transaction and gets the remainder. */
  readonly solver: Address;
  readonly router: Address;
  /** The contract that pulls the solver's approved tokens into the router. */
  readonly approvalProxy: Address;
}

/**
 * The transaction: first the payment, then the calls; its input ends with the order id. For a payment in a
 * token, the recipient's balance is noted before and checked at the end, on the chain itself: a call may act
 * differently from its simulation. A native payment is proven by the router's own event, whatever happens to
 * it later.
 */
export function fillWithCalls({ payment, calls, solver, router, approvalProxy }: FillWithCalls): CallPlan {
  const { currency, recipient, amount, orderId } = payment;
  const value = calls.reduce((sum, call) => sum + call.value, 0n);
  if (currency === NATIVE_CURRENCY)
    return routerCall(router, {
      calls: [nativeTransferCall(router, recipient, amount), ...calls],
      refundTo: solver,
      refundTokens: [],
      value: amount + value,
      orderId,
    });
  const toRouter = (functionData: Hex): CallPlan => ({ to: router, data: functionData, value: 0n });
  const noteData = encodeFunctionData({
    abi: routerAbi,
    functionName: "noteBalance",
    args: [currency, recipient],
  });
  const checkData = encodeFunctionData({
    abi: routerAbi,
    functionName: "requireReceived",
    args: [currency, recipient, amount],
  });
  const routedCalls = [
    toRouter(noteData),
    transferCall(currency, recipient, amount),
    ...calls,
    toRouter(checkData),
  ].map((call) => ({ ...call, allowFailure: false }));
  const data = encodeFunctionData({
    abi: approvalProxyAbi,
    functionName: "pullAndRoute",
    args: [currency, amount, routedCalls, solver, []],
  });
  return { to: approvalProxy, data: withOrderId(data, orderId), value };
}

/**
 * The logs of such a fill without its intended effects on the solver: the transfer of the payment into the
 * router, and the allowance that this transfer uses up.
 */
export function withoutPaymentMovements(
  logs: readonly FrameLog[],
  { payment: { currency, amount }, solver, router, approvalProxy }: Omit<FillWithCalls, "calls">,
): readonly FrameLog[] {
  const pullIndex = logs.findIndex(
    ({ address, topics: [topic, from, to], data }) =>
      address === currency &&
      topic === TRANSFER_TOPIC &&
      addressOfTopic(from) === solver &&
      addressOfTopic(to) === router &&
      splitWords(data)?.[0] === amount,
  );
  return logs.filter(
    ({ address, topics: [topic, owner, spender] }, index) =>
      index !== pullIndex &&
      !(
        address === currency &&
        topic === APPROVAL_TOPIC &&
        addressOfTopic(owner) === solver &&
        addressOfTopic(spender) === approvalProxy
      ),
  );
}

/**
 * Whether the recipient keeps a payment that the router made, as oracles count it (`keptPayment`). Oracles do
 * not track native payments any further.
 */
export function keepsPayment(
  logs: readonly FrameLog[],
  { currency, recipient, amount }: Pick<Payment, "currency" | "recipient" | "amount">,
  router: Address,
): boolean {
  if (currency === NATIVE_CURRENCY) return true;
  const received = keptPayment(recipient, currency, logs, { payer: router, named: amount });
  return received !== undefined && received >= amount;
}

/**
 * The inner calls that a fill's calls made, without those of the payment, which the solver chose itself. If
 * they cannot be separated, includes too much rather than too little.
 */
export function innerCallsAfterPayment(
  innerCalls: readonly InnerCall[],
  { calls, payment, router }: Pick<FillWithCalls, "calls" | "payment" | "router">,
): readonly InnerCall[] {
  const [first] = calls;
  if (first === undefined) return [];
  const isNative = payment.currency === NATIVE_CURRENCY;
  const isRouterCall = (selector: Hex) => (call: InnerCall) =>
    call.to === router && call.selector === selector;
  // A called contract may call the router too, but only after the payment began and before the final check.
  const startIndex = innerCalls.findIndex(isRouterCall(isNative ? NATIVE_TRANSFER : NOTE_BALANCE));
  const endIndex = isNative ? -1 : innerCalls.findLastIndex(isRouterCall(REQUIRE_RECEIVED));
  const selector = first.data.length < 10 ? undefined : first.data.slice(0, 10);
  const firstIndex = innerCalls.findIndex(
    (call, index) => index > startIndex && call.to === first.to && call.selector === selector,
  );
  return innerCalls.slice(firstIndex === -1 ? 0 : firstIndex, endIndex === -1 ? undefined : endIndex);
}

/** Whether a fill failed because its recipient would not have kept the payment. */
export function losesPayment({ details }: SimulationFailure, router: Address): boolean {
  const { innermost, revert } = details;
  return revert.name === "NotReceived" && innermost.address === router;
}
