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
const [token, held, wrapped, pool, callee] = ["c1", "c2", "c3", "d1", "d2"].map(account) as [
  Address,
  Address,
  Address,
  Address,
  Address,
];
const orderId: Hex = `0x${"0d".repeat(32)}`;
const swap = { to: pool, data: "0x5a5a5a5a", value: 0n } as const;
const call = { to: callee, data: "0xca11ca11", value: 0n } as const;

interface Made {
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
}

/** The calls of the transaction as text, in order. */
function planned(change: Partial<FillThroughCalls> & { readonly currency?: Address }) {
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
  const given = args as readonly unknown[];
  const [calls, refundTo, refundTokens] = isProxy ? given.slice(2) : given;
  return {
    spends: isProxy ? [String(given[0]).toLowerCase(), given[1]] : [NATIVE_CURRENCY, plan.value],
    calls: (calls as readonly Made[]).map(describeCall),
    refundTo: String(refundTo).toLowerCase(),
    refundTokens: (refundTokens as readonly string[]).map((one) => one.toLowerCase()),
  };
}

function describeCall({ to, data }: Made): string {
  if (to.toLowerCase() !== router) return to.toLowerCase() === pool ? "exchange" : "call";
  const { functionName, args } = decodeFunctionData({ abi: routerAbi, data });
  return [functionName, ...args.map((arg) => String(arg).toLowerCase())].join(" ");
}

const fromHeld = { paidFrom: held, limit: 120n, wrappedNative: wrapped, exchange: [swap] };
const fromNative = { ...fromHeld, paidFrom: NATIVE_CURRENCY };

test("for a token of the solver, records the recipient's balance, and requires the remainder on chain", () => {
  expect(planned({})).toEqual({
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
  expect(planned({ currency: NATIVE_CURRENCY })).toEqual({
    spends: [NATIVE_CURRENCY, 100n],
    calls: ["call", `payBalance ${NATIVE_CURRENCY} ${recipient} 60`],
    refundTo: recipient,
    refundTokens: [],
  });
});

test("a swap without a planned remainder pays no one, and forwards any remainder", () => {
  expect(planned({ minLeft: undefined })).toMatchObject({ calls: ["call"], refundTo: recipient });
  expect(planned({ minLeft: 0n }).calls).toEqual(["call", `payBalance ${token} ${recipient} 0`]);
});

test("returns the remainder of a swap to the solver before any other call", () => {
  const rest = ["call", `payBalance ${token} ${recipient} 0`];
  expect(planned({ minLeft: 0n, exchanged: fromHeld })).toMatchObject({
    spends: [held, 120n],
    calls: ["exchange", `payBalance ${held} ${solver} 0`, ...rest],
  });
  expect(planned({ minLeft: 0n, exchanged: fromNative })).toMatchObject({
    spends: [NATIVE_CURRENCY, 120n],
    calls: [
      `wrapBalance ${wrapped}`,
      "exchange",
      `unwrapBalance ${wrapped} 0`,
      `payBalance ${NATIVE_CURRENCY} ${solver} 0`,
      ...rest,
    ],
  });
  expect(planned({ minLeft: undefined, exchanged: fromHeld, currency: NATIVE_CURRENCY }).calls).toEqual([
    "exchange",
    `payBalance ${held} ${solver} 0`,
    `unwrapBalance ${wrapped} 0`,
    "call",
  ]);
});

test("wraps and unwraps one to one, without a remainder to return", () => {
  const one = { minLeft: undefined, currency: NATIVE_CURRENCY };
  expect(planned({ ...one, exchanged: { ...fromHeld, paidFrom: wrapped, exchange: [] } }).calls).toEqual([
    `unwrapBalance ${wrapped} 0`,
    "call",
  ]);
  expect(planned({ minLeft: undefined, currency: wrapped, exchanged: fromNative }).calls).toEqual([
    `wrapBalance ${wrapped}`,
    "call",
  ]);
});

test("refuses to swap the native token on a chain without its wrapped token", () => {
  expect(() => planned({ exchanged: { ...fromNative, wrappedNative: undefined } })).toThrow(RangeError);
});
