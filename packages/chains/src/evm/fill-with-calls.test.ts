import { approvalProxyAbi, routerAbi } from "@causeway/contracts";
import { NATIVE_CURRENCY, type Address, type FrameLog, type Hex, type OrderId } from "@causeway/domain";
import { decodeFunctionData, erc20Abi, getAbiItem, pad, toFunctionSelector, toHex } from "viem";
import { expect, test } from "vitest";
import { TRANSFER_TOPIC, type InnerCall } from "@causeway/families/evm";
import { fillWithCalls, keepsPayment, innerCallsAfterPayment } from "./fill-with-calls.ts";

const account = (digit: string): Address => `0x${digit.repeat(40)}`;
const [solver, router, approvalProxy, recipient] = [account("1"), account("2"), account("3"), account("4")];
const [token, stranger, depository, target] = [account("5"), account("6"), account("7"), account("8")];
const orderId: OrderId = `0x${"ab".repeat(32)}` as OrderId;
const payment = { currency: token, recipient, amount: 90n, orderId };
const calls = [{ to: target, data: "0x1234" as Hex, value: 5n }];

const innerCall = (to: Address, data: Hex): InnerCall => ({
  from: router,
  to,
  selector: data.slice(0, 10) as Hex,
  value: 0n,
  userOperations: undefined,
});
const selectorOf = (name: "nativeTransfer" | "noteBalance" | "requireReceived" | "multicall"): Hex =>
  toFunctionSelector(getAbiItem({ abi: routerAbi, name }));
const [pull, pay, balanceOf] = ["0x23b872dd", "0xa9059cbb", "0x70a08231"] as const;

const transferLog = (from: Address, to: Address, amount: bigint): FrameLog => ({
  address: token,
  topics: [TRANSFER_TOPIC, pad(from), pad(to)],
  data: pad(toHex(amount)),
});
const paymentLogs = [transferLog(solver, router, 90n), transferLog(router, recipient, 90n)];

test("wraps a token payment in noteBalance and requireReceived", () => {
  const plan = fillWithCalls({ payment, calls, solver, router, approvalProxy });
  expect(plan).toMatchObject({ to: approvalProxy, value: 5n });
  expect(plan.data.endsWith(orderId.slice(2))).toBe(true);
  const routed = decodeFunctionData({ abi: approvalProxyAbi, data: plan.data });
  if (routed.functionName !== "pullAndRoute")
    throw new Error(`expected pullAndRoute, got ${routed.functionName}`);
  const [pulledToken, amount, routedCalls] = routed.args;
  expect([pulledToken, amount]).toEqual([token, 90n]);
  expect(routedCalls.map(({ to, value, allowFailure }) => [to, value, allowFailure])).toEqual([
    [router, 0n, false],
    [token, 0n, false],
    [target, 5n, false],
    [router, 0n, false],
  ]);
  const [note, transfer, , check] = routedCalls.map(({ data }) => data);
  expect(decodeFunctionData({ abi: routerAbi, data: note ?? "0x" })).toEqual({
    functionName: "noteBalance",
    args: [token, recipient],
  });
  expect(decodeFunctionData({ abi: erc20Abi, data: transfer ?? "0x" })).toEqual({
    functionName: "transfer",
    args: [recipient, 90n],
  });
  expect(decodeFunctionData({ abi: routerAbi, data: check ?? "0x" })).toEqual({
    functionName: "requireReceived",
    args: [token, recipient, 90n],
  });
});

test.each<readonly [string, readonly FrameLog[]]>([
  ["transfers nothing", []],
  [
    "forwards all and gets it back",
    [transferLog(recipient, stranger, 90n), transferLog(stranger, recipient, 90n)],
  ],
  [
    "pays the router a part and gets it back",
    [transferLog(recipient, router, 1n), transferLog(router, recipient, 1n)],
  ],
  [
    "pays the router all and gets it back from elsewhere",
    [transferLog(recipient, router, 90n), transferLog(stranger, recipient, 90n)],
  ],
  // Transfers from any account make up for what the recipient sent.
  [
    "forwards all and gets as much from a depository",
    [transferLog(recipient, stranger, 90n), transferLog(depository, recipient, 90n)],
  ],
])("the recipient keeps the payment if it %s", (_what, after) => {
  expect(keepsPayment([...paymentLogs, ...after], payment, router)).toBe(true);
});

test.each<readonly [string, readonly FrameLog[]]>([
  ["forwards a part", [transferLog(recipient, stranger, 1n)]],
  [
    "forwards all and gets less from a depository",
    [transferLog(recipient, stranger, 90n), transferLog(depository, recipient, 89n)],
  ],
])("the recipient does not keep the payment if it %s", (_what, after) => {
  expect(keepsPayment([...paymentLogs, ...after], payment, router)).toBe(false);
});

/** All inner calls of a fill whose own calls made `reached`. */
function innerCallsOf(reached: readonly InnerCall[], currency: Address = token): readonly InnerCall[] {
  if (currency === NATIVE_CURRENCY)
    return [
      innerCall(router, selectorOf("nativeTransfer")),
      innerCall(recipient, "0x"),
      ...reached,
      innerCall(solver, "0x"),
    ];
  return [
    innerCall(token, pull),
    innerCall(router, selectorOf("multicall")),
    innerCall(router, selectorOf("noteBalance")),
    innerCall(token, balanceOf),
    innerCall(token, pay),
    ...reached,
    innerCall(router, selectorOf("requireReceived")),
    innerCall(token, balanceOf),
    innerCall(token, balanceOf),
  ];
}

const reachedCalls = [innerCall(target, "0x12345678"), innerCall(stranger, "0xdeadbeef")];
const callsTo = (data: Hex, to: Address = target) => [{ to, data, value: 0n }];

test.each([token, NATIVE_CURRENCY])(
  "separates the contracts that a fill's calls reach from the payment itself, in %s",
  (currency) => {
    const fill = { payment: { ...payment, currency }, calls: callsTo("0x12345678"), router };
    const reached = innerCallsAfterPayment(innerCallsOf(reachedCalls, currency), fill);
    expect(reached.slice(0, 2)).toEqual(reachedCalls);
    expect(reached.some(({ to }) => to === token || to === router || to === recipient)).toBe(false);
  },
);

test("includes calls that look like the payment, but not the pull of the payment", () => {
  const moving = [innerCall(token, pay), innerCall(stranger, "0xdeadbeef")];
  const fill = { payment, calls: callsTo(pay, token), router };
  expect(innerCallsAfterPayment(innerCallsOf(moving), fill)).toEqual([innerCall(token, pay), ...moving]);
  const pulling = [innerCall(token, pull)];
  expect(
    innerCallsAfterPayment(innerCallsOf(pulling), { payment, calls: callsTo(pull, token), router }),
  ).toEqual(pulling);
});

test("a called contract cannot hide later calls with calls to the router", () => {
  const hiding = [
    innerCall(target, "0x12345678"),
    innerCall(router, selectorOf("requireReceived")),
    innerCall(router, selectorOf("noteBalance")),
    innerCall(stranger, "0xdeadbeef"),
  ];
  const fill = { payment, calls: callsTo("0x12345678"), router };
  expect(innerCallsAfterPayment(innerCallsOf(hiding), fill)).toEqual(hiding);
});

test("includes everything if the calls are not found", () => {
  const fill = { payment, calls: callsTo("0x99999999"), router };
  expect(innerCallsAfterPayment(innerCallsOf(reachedCalls), fill)).toEqual(
    innerCallsOf(reachedCalls).slice(0, -3),
  );
  expect(innerCallsAfterPayment([], fill)).toEqual([]);
});
