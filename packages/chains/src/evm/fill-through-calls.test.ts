import { approvalProxyAbi, routerAbi } from "@causeway/contracts";
import { NATIVE_CURRENCY, type Address, type Hex } from "@causeway/domain";
import { decodeFunctionData } from "viem";
import { expect, test } from "vitest";
import { fillThroughCalls, type FillThroughCalls } from "./fill-through-calls.ts";

const account = (byte: string): Address => `0x${byte.repeat(20)}`;
const [router, approvalProxy, solver, recipient] = ["a1", "a2", "b1", "b2"].map(account) as [
  Address,
  Address,
  Address,
  Address,
];
const [token, inputToken, wrapped, pool, callee] = ["c1", "c2", "c3", "d1", "d2"].map(account) as [
  Address,
  Address,
  Address,
  Address,
  Address,
];
const orderId: Hex = `0x${"0d".repeat(32)}`;
const swap = { to: pool, data: "0x5a5a5a5a", value: 0n } as const;
const call = { to: callee, data: "0xca11ca11", value: 0n } as const;

interface RoutedCall {
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
}

/** The calls of the transaction as text, in order. */
function planFill(change: Partial<FillThroughCalls> & { readonly currency?: Address }) {
  const { currency = token, ...rest } = change;
  const plan = fillThroughCalls({
    payment: { currency, recipient, amount: 100n, orderId },
    calls: [call],
    minLeft: 60n,
    solver,
    router,
    approvalProxy,
    ...rest,
  });
  expect(plan.data.endsWith(orderId.slice(2))).toBe(true);
  const isProxy = plan.to === approvalProxy;
  const { args } = decodeFunctionData({ abi: isProxy ? approvalProxyAbi : routerAbi, data: plan.data });
  const decodedArgs = args as readonly unknown[];
  const [calls, refundTo, refundTokens] = isProxy ? decodedArgs.slice(2) : decodedArgs;
  return {
    spends: isProxy ? [String(decodedArgs[0]).toLowerCase(), decodedArgs[1]] : [NATIVE_CURRENCY, plan.value],
    calls: (calls as readonly RoutedCall[]).map(describeCall),
    refundTo: String(refundTo).toLowerCase(),
    refundTokens: (refundTokens as readonly string[]).map((refundToken) => refundToken.toLowerCase()),
  };
}

function describeCall({ to, data }: RoutedCall): string {
  if (to.toLowerCase() !== router) return to.toLowerCase() === pool ? "swap" : "call";
  const { functionName, args } = decodeFunctionData({ abi: routerAbi, data });
  return [functionName, ...args.map((arg) => String(arg).toLowerCase())].join(" ");
}

const fromToken = { paidFrom: inputToken, limit: 120n, wrappedNative: wrapped, swapCalls: [swap] };
const fromNative = { ...fromToken, paidFrom: NATIVE_CURRENCY };

test("for a token of the solver, records the recipient's balance, and requires the remainder on chain", () => {
  expect(planFill({})).toEqual({
    spends: [token, 100n],
    calls: [
      `noteBalance ${token} ${recipient}`,
      "call",
      `payBalance ${token} ${recipient} 60`,
      `requireReceived ${token} ${recipient} 60`,
    ],
    refundTo: recipient,
    refundTokens: [token],
  });
});

test("for native tokens, the router pays the remainder with its event", () => {
  expect(planFill({ currency: NATIVE_CURRENCY })).toEqual({
    spends: [NATIVE_CURRENCY, 100n],
    calls: ["call", `payBalance ${NATIVE_CURRENCY} ${recipient} 60`],
    refundTo: recipient,
    refundTokens: [],
  });
});

test("a swap without a planned remainder pays no one, and forwards any remainder", () => {
  expect(planFill({ minLeft: undefined })).toMatchObject({ calls: ["call"], refundTo: recipient });
  expect(planFill({ minLeft: 0n }).calls).toEqual(["call", `payBalance ${token} ${recipient} 0`]);
});

test("returns the remainder of a swap to the solver before any other call", () => {
  const callAndPayment = ["call", `payBalance ${token} ${recipient} 0`];
  expect(planFill({ minLeft: 0n, swap: fromToken })).toMatchObject({
    spends: [inputToken, 120n],
    calls: ["swap", `payBalance ${inputToken} ${solver} 0`, ...callAndPayment],
  });
  expect(planFill({ minLeft: 0n, swap: fromNative })).toMatchObject({
    spends: [NATIVE_CURRENCY, 120n],
    calls: [
      `wrapBalance ${wrapped}`,
      "swap",
      `unwrapBalance ${wrapped} 0`,
      `payBalance ${NATIVE_CURRENCY} ${solver} 0`,
      ...callAndPayment,
    ],
  });
  expect(planFill({ minLeft: undefined, swap: fromToken, currency: NATIVE_CURRENCY }).calls).toEqual([
    "swap",
    `payBalance ${inputToken} ${solver} 0`,
    `unwrapBalance ${wrapped} 0`,
    "call",
  ]);
});

test("wraps and unwraps one to one, without a remainder to return", () => {
  const toNative = { minLeft: undefined, currency: NATIVE_CURRENCY };
  expect(planFill({ ...toNative, swap: { ...fromToken, paidFrom: wrapped, swapCalls: [] } }).calls).toEqual([
    `unwrapBalance ${wrapped} 0`,
    "call",
  ]);
  expect(planFill({ minLeft: undefined, currency: wrapped, swap: fromNative }).calls).toEqual([
    `wrapBalance ${wrapped}`,
    "call",
  ]);
});

test("refuses to swap the native token on a chain without its wrapped token", () => {
  expect(() => planFill({ swap: { ...fromNative, wrappedNative: undefined } })).toThrow(RangeError);
});
