import { decodeFunctionData, erc20Abi } from "viem";
import { expect, test } from "vitest";
import { routerAbi } from "@causeway/contracts";
import { NATIVE_CURRENCY, type Address, type Hex } from "@causeway/domain";
import { nativeTransferCall, paymentCall, routerCall, withOrderId } from "./fill-calldata.ts";

const router: Address = `0x${"40".repeat(20)}`;
const token: Address = `0x${"c1".repeat(20)}`;
const recipient: Address = `0x${"a1".repeat(20)}`;
const orderId: Hex = `0x${"1d".repeat(32)}`;

test("pays the native token to an account without code by a plain transfer whose whole input is the order id", () => {
  const payment = { currency: NATIVE_CURRENCY, recipient, amount: 5n, orderId };
  expect(paymentCall(payment, false, router)).toEqual({ to: recipient, data: orderId, value: 5n });
});

test("pays the native token to a contract through the router with the same value", () => {
  const call = paymentCall({ currency: NATIVE_CURRENCY, recipient, amount: 5n, orderId }, true, router);
  expect(call).toMatchObject({ to: router, value: 5n });
  expect(call.data.endsWith(orderId.slice(2))).toBe(true);
  const decoded = decodeFunctionData({ abi: routerAbi, data: call.data });
  expect(decoded.functionName).toBe("nativeTransfer");
  expect(decoded.args?.map((arg) => String(arg).toLowerCase())).toEqual([recipient, "5"]);
});

test("pays a token by a transfer to the recipient followed by the order id, without value", () => {
  const call = paymentCall({ currency: token, recipient, amount: 5n, orderId }, true, router);
  expect(call).toMatchObject({ to: token, value: 0n });
  expect(call.data).toHaveLength(2 + 2 * (4 + 64 + 32));
  expect(call.data.endsWith(orderId.slice(2))).toBe(true);
  const { functionName, args } = decodeFunctionData({ abi: erc20Abi, data: call.data });
  expect(functionName).toBe("transfer");
  expect(args.map((arg) => String(arg).toLowerCase())).toEqual([recipient, "5"]);
});

test("router calls keep their order, allow no failure unless requested, and end with the order id", () => {
  const plan = {
    calls: [
      nativeTransferCall(router, recipient, 7n),
      { to: token, data: "0xdeadbeef", value: 0n, allowFailure: true },
    ],
    refundTo: recipient,
    refundTokens: [token],
    value: 9n,
    orderId,
  } as const;
  const call = routerCall(router, plan);
  expect(call).toMatchObject({ to: router, value: 9n });
  expect(call.data.endsWith(orderId.slice(2))).toBe(true);
  const { args } = decodeFunctionData({ abi: routerAbi, data: call.data });
  expect(args?.[0]).toMatchObject([
    { value: 7n, allowFailure: false },
    { data: "0xdeadbeef", value: 0n, allowFailure: true },
  ]);
});

test("refuses an order id of another length", () => {
  expect(() => withOrderId("0x", "0x1d")).toThrow(RangeError);
});
