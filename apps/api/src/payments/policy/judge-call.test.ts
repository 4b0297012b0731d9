import { fillThroughCalls, fillWithCalls, fillWithSwap, paymentCall, type CallPlan } from "@causeway/chains";
import { approvalProxyAbi, depositoryAbi, routerAbi } from "@causeway/contracts";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address, Hex } from "@causeway/domain";
import fc from "fast-check";
import { encodeFunctionData, erc20Abi } from "viem";
import { describe, expect, test } from "vitest";
import { judgeCall, outflowsOf, type LegFacts, type PaymentFacts } from "./judge-call.ts";
import { readCall } from "./read-call.ts";

const account = (byte: string): Address => `0x${byte.repeat(20)}`;
const TOKEN = account("a0");
const OTHER_TOKEN = account("a1");
const WRAPPED = account("a2");
const RECIPIENT = account("b0");
const THIEF = account("ee");
const SOLVER = account("c0");
const contracts = { router: account("d0"), approvalProxy: account("d1") };
const ORDER: Hex = `0x${"0d".repeat(32)}`;
const OTHER_ORDER: Hex = `0x${"0e".repeat(32)}`;
const MAX = 1_000n;

const userCall: CallPlan = { to: account("f0"), data: "0x12345678", value: 7n };

function facts(change: Partial<PaymentFacts> = {}): PaymentFacts {
  return {
    kind: "payment",
    key: "solver",
    chainId: 1,
    isOpen: true,
    recipient: RECIPIENT,
    currency: TOKEN,
    maxAmount: MAX,
    reference: ORDER,
    route: { router: contracts.router, sender: SOLVER, paidFrom: undefined, calls: [userCall], topup: 0n },
    ...change,
  };
}

function ruleOf(call: CallPlan, leg: LegFacts | undefined = facts(), key: "solver" | "executor" = "solver") {
  const reading = readCall(call, contracts);
  return judgeCall({ chainId: 1, key, call, reading, maxFeePerGas: 1n }, leg)?.rule;
}

const payment = { currency: TOKEN, recipient: RECIPIENT, amount: MAX, orderId: ORDER };
const accounts = { solver: SOLVER, ...contracts };
const swap = { paidFrom: OTHER_TOKEN, limit: 900n, wrappedNative: WRAPPED, swapCalls: [userCall] };

describe("a fill as the service plans it is allowed", () => {
  const native = facts({ currency: NATIVE_CURRENCY });
  const withSwap = facts({ route: { ...facts().route!, paidFrom: OTHER_TOKEN, calls: [] } });
  const inNative = { ...payment, currency: NATIVE_CURRENCY };
  test.for<[string, CallPlan, LegFacts]>([
    ["a token", paymentCall(payment, false, contracts.router), facts()],
    ["native tokens", paymentCall(inNative, false, contracts.router), native],
    ["native tokens for a contract", paymentCall(inNative, true, contracts.router), native],
    ["with calls", fillWithCalls({ payment, calls: [userCall], ...accounts }), facts()],
    ["native with calls", fillWithCalls({ payment: inNative, calls: [userCall], ...accounts }), native],
    ["through calls", fillThroughCalls({ payment, calls: [userCall], minLeft: 1n, ...accounts }), facts()],
    ["through a swap", fillWithSwap({ payment, ...swap, ...accounts }), withSwap],
    [
      "native through a swap",
      fillWithSwap({ payment: inNative, ...swap, ...accounts }),
      { ...withSwap, currency: NATIVE_CURRENCY } as LegFacts,
    ],
  ])("%s", ([, call, leg]) => {
    expect(ruleOf(call, leg)).toBeUndefined();
  });
});

test.for<[string, CallPlan, string]>([
  ["another recipient", paymentCall({ ...payment, recipient: THIEF }, false, contracts.router), "recipient"],
  ["more than the order", paymentCall({ ...payment, amount: MAX + 1n }, false, contracts.router), "amount"],
  ["another token", paymentCall({ ...payment, currency: OTHER_TOKEN }, false, contracts.router), "currency"],
  ["native tokens instead", { to: RECIPIENT, data: ORDER, value: 1n }, "currency"],
  ["another order", paymentCall({ ...payment, orderId: OTHER_ORDER }, false, contracts.router), "order"],
  [
    "an allowance",
    {
      to: TOKEN,
      data: encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [THIEF, MAX] }),
      value: 0n,
    },
    "call",
  ],
  [
    "tokens of others",
    {
      to: TOKEN,
      data: encodeFunctionData({
        abi: erc20Abi,
        functionName: "transferFrom",
        args: [RECIPIENT, THIEF, MAX],
      }),
      value: 0n,
    },
    "call",
  ],
  [
    "a contract of the service",
    {
      to: account("d9"),
      data: encodeFunctionData({ abi: depositoryAbi, functionName: "setAllocator", args: [THIEF] }),
      value: 0n,
    },
    "call",
  ],
  ["a new contract", { to: account("00"), data: "0x60016002", value: 0n }, "call"],
  [
    "an added call",
    fillWithCalls({ payment, calls: [{ ...userCall, data: "0x99999999" }], ...accounts }),
    "call",
  ],
  [
    "a remainder for someone else",
    fillWithCalls({ payment, calls: [], ...accounts, solver: THIEF }),
    "recipient",
  ],
  [
    "a router's payment to someone else",
    fillWithCalls({
      payment,
      calls: [
        {
          to: contracts.router,
          value: 0n,
          data: encodeFunctionData({ abi: routerAbi, functionName: "payBalance", args: [TOKEN, THIEF, 0n] }),
        },
      ],
      ...accounts,
    }),
    "recipient",
  ],
  [
    "more than the order, pulled through the approval proxy",
    fillWithCalls({ payment: { ...payment, amount: MAX + 1n }, calls: [], ...accounts }),
    "amount",
  ],
  ["a swap that the order does not have", fillWithSwap({ payment, ...swap, ...accounts }), "currency"],
])("a fill never pays %s", ([, call, rule]) => {
  expect(ruleOf(call)).toBe(rule);
});

test("allows a payment only by the key of its leg, on the chain of its leg, while it is due", () => {
  const call = paymentCall(payment, false, contracts.router);
  expect(ruleOf(call, facts(), "executor")).toBe("key");
  expect(ruleOf(call, facts({ isOpen: false }))).toBe("leg");
  expect(ruleOf(call, facts({ chainId: 2 }))).toBe("leg");
  expect(
    judgeCall(
      { chainId: 1, key: "solver", call, reading: readCall(call, contracts), maxFeePerGas: 1n },
      undefined,
    )?.rule,
  ).toBe("leg");
});

test("allows an execution or sweep only as it is stored", () => {
  const leg: LegFacts = { kind: "exact", key: "solver", chainId: 1, isOpen: true, call: userCall };
  expect(ruleOf(userCall, leg)).toBeUndefined();
  for (const change of [{ to: THIEF }, { data: "0x12345679" as const }, { value: 8n }])
    expect(ruleOf({ ...userCall, ...change }, leg)).toBe("call");
});

test("allows a call with signed arguments only if it sends no native tokens and calls an allowed function", () => {
  const leg: LegFacts = {
    kind: "signed",
    key: "solver",
    chainId: undefined,
    contracts: undefined,
    isOpen: true,
    selectors: ["0x12345678"],
  };
  expect(ruleOf({ ...userCall, value: 0n }, leg)).toBeUndefined();
  expect(ruleOf(userCall, leg)).toBe("amount");
  expect(ruleOf({ ...userCall, value: 0n, data: "0xa9059cbb" }, leg)).toBe("call");
});

const anAddress = fc.constantFrom(
  TOKEN,
  RECIPIENT,
  RECIPIENT,
  TOKEN,
  OTHER_TOKEN,
  RECIPIENT,
  THIEF,
  SOLVER,
  contracts.router,
  contracts.approvalProxy,
);
const anAmount = fc.bigInt(0n, 1_500n);
const anInnerCall = fc.oneof(
  fc.record({ to: anAddress, data: fc.constant<Hex>("0x12345678"), value: anAmount }),
  fc.tuple(anAddress, anAddress, anAmount).map(([to, recipient, amount]): CallPlan => ({
    to,
    data: encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [recipient, amount] }),
    value: 0n,
  })),
  fc.tuple(anAddress, anAmount).map(([to, amount]): CallPlan => ({
    to: contracts.router,
    data: encodeFunctionData({ abi: routerAbi, functionName: "nativeTransfer", args: [to, amount] }),
    value: amount,
  })),
);
const aCall: fc.Arbitrary<CallPlan> = fc.oneof(
  anAmount.map((amount) => paymentCall({ ...payment, amount }, false, contracts.router)),
  anInnerCall,
  fc.record({
    to: anAddress,
    value: anAmount,
    data: fc.uint8Array({ maxLength: 80 }).map((bytes): Hex => `0x${Buffer.from(bytes).toString("hex")}`),
  }),
  fc
    .record({
      currency: anAddress,
      recipient: anAddress,
      amount: anAmount,
      orderId: fc.constantFrom(ORDER, OTHER_ORDER),
    })
    .map((input) => paymentCall(input, false, contracts.router)),
  fc
    .tuple(anAddress, anAmount, fc.array(anInnerCall, { maxLength: 3 }), anAddress, anAmount)
    .map(([currency, amount, calls, remainderTo, value]): CallPlan => ({
      to: contracts.approvalProxy,
      value,
      data: `${encodeFunctionData({
        abi: approvalProxyAbi,
        functionName: "pullAndRoute",
        args: [currency, amount, calls.map((call) => ({ ...call, allowFailure: false })), remainderTo, []],
      })}${ORDER.slice(2)}`,
    })),
);

test("allows no fill that spends more than the order's amount and its calls' value, for any proposal", () => {
  let allowed = 0;
  fc.assert(
    fc.property(aCall, (call) => {
      if (ruleOf(call) !== undefined) return;
      allowed++;
      for (const { currency, amount } of outflowsOf({ call, reading: readCall(call, contracts) })) {
        expect([TOKEN, NATIVE_CURRENCY]).toContain(currency);
        expect(amount).toBeLessThanOrEqual(currency === TOKEN ? MAX : userCall.value);
      }
      expect(
        JSON.stringify(call, (_, value: unknown) => (typeof value === "bigint" ? "" : value)),
      ).not.toContain(THIEF.slice(2));
    }),
    { numRuns: 400 },
  );
  expect(allowed).toBeGreaterThan(3);
});
