import { approvalProxyAbi, routerAbi } from "@causeway/contracts";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address, Hex } from "@causeway/domain";
import { decodeFunctionData, erc20Abi } from "viem";
import { expect, test } from "vitest";
import type { CallPlan } from "@causeway/families/evm";
import { fillWithSwap } from "./fill-with-swap.ts";
import type { FillWithSwap } from "./fill-with-swap.ts";

const addressOf = (digit: string): Address => `0x${digit.repeat(40)}`;
const [router, approvalProxy, solver, recipient] = [
  addressOf("1"),
  addressOf("2"),
  addressOf("3"),
  addressOf("4"),
];
const [inputToken, outputToken, wrapped, pool] = [
  addressOf("5"),
  addressOf("6"),
  addressOf("7"),
  addressOf("8"),
];
const orderId: Hex = `0x${"ab".repeat(32)}`;
const swapCalls: readonly CallPlan[] = [{ to: pool, data: "0xe0e0", value: 0n }];

const toToken: FillWithSwap = {
  payment: { currency: outputToken, recipient, amount: 90n, orderId },
  paidFrom: inputToken,
  limit: 100n,
  wrappedNative: wrapped,
  swapCalls: swapCalls,
  solver,
  router,
  approvalProxy,
};
const toNative = { ...toToken, payment: { ...toToken.payment, currency: NATIVE_CURRENCY } };

/** The transaction of a fill, with the router's calls as text. */
function decodeFill(fill: FillWithSwap) {
  const plan = fillWithSwap(fill);
  expect(plan.data.endsWith(orderId.slice(2))).toBe(true);
  const isPulled = plan.to === approvalProxy;
  const routed = decodeFunctionData({ abi: isPulled ? approvalProxyAbi : routerAbi, data: plan.data });
  const args = routed.args as readonly unknown[];
  const [calls, refundTo, refundTokens] = (isPulled ? args.slice(2) : args) as [
    readonly (CallPlan & { readonly allowFailure: boolean })[],
    Address,
    readonly Address[],
  ];
  expect([routed.functionName, refundTo, refundTokens]).toEqual([
    isPulled ? "pullAndRoute" : "multicall",
    solver,
    [],
  ]);
  expect(calls.some(({ allowFailure }) => allowFailure)).toBe(false);
  const callTexts = calls.map(({ to, data, value }) => {
    if (to === outputToken) {
      const decoded = decodeFunctionData({ abi: erc20Abi, data });
      return `${decoded.functionName} ${to} ${(decoded.args as readonly unknown[]).join(" ")} ${value}`;
    }
    if (to !== router) return `${to === pool ? "swap" : to} ${data} ${value}`;
    const decoded = decodeFunctionData({ abi: routerAbi, data });
    return `${decoded.functionName} ${(decoded.args as readonly unknown[]).join(" ")} ${value}`;
  });
  return { to: plan.to, value: plan.value, pulled: isPulled ? args.slice(0, 2) : undefined, callTexts };
}

test("pays the gas top-up of a token payment once the router holds nothing else, and refuses one for native payments and swaps from the native token", () => {
  const { callTexts, value } = decodeFill({ ...toToken, topup: 7n });
  expect(value).toBe(7n);
  expect(callTexts.slice(-3)).toEqual([
    `requireReceived ${outputToken} ${recipient} 90 0`,
    `payBalance ${inputToken} ${solver} 0 0`,
    `nativeTransfer ${recipient} 7 7`,
  ]);
  expect(() => fillWithSwap({ ...toNative, topup: 7n })).toThrow(RangeError);
  expect(() => fillWithSwap({ ...toToken, paidFrom: NATIVE_CURRENCY, topup: 7n })).toThrow(RangeError);
});

test("the router notes the recipient's balance, buys and pays the token itself, and checks that the balance grew by the payment", () => {
  expect(decodeFill(toToken)).toEqual({
    to: approvalProxy,
    value: 0n,
    pulled: [inputToken, 100n],
    callTexts: [
      `noteBalance ${outputToken} ${recipient} 0`,
      "swap 0xe0e0 0",
      `transfer ${outputToken} ${recipient} 90 0`,
      `requireReceived ${outputToken} ${recipient} 90 0`,
    ],
  });
});

test("the router unwraps and pays native tokens after the remainder of the input was returned", () => {
  expect(decodeFill(toNative)).toEqual({
    to: approvalProxy,
    value: 0n,
    pulled: [inputToken, 100n],
    callTexts: [
      "swap 0xe0e0 0",
      `payBalance ${inputToken} ${solver} 0 0`,
      `unwrapBalance ${wrapped} 90 0`,
      `nativeTransfer ${recipient} 90 90`,
    ],
  });
});

test("a swap from the native token sends the limit as value, wraps it for the swap and unwraps the remainder", () => {
  expect(decodeFill({ ...toToken, paidFrom: NATIVE_CURRENCY })).toEqual({
    to: router,
    value: 100n,
    pulled: undefined,
    callTexts: [
      `noteBalance ${outputToken} ${recipient} 0`,
      `wrapBalance ${wrapped} 0`,
      "swap 0xe0e0 0",
      `transfer ${outputToken} ${recipient} 90 0`,
      `unwrapBalance ${wrapped} 0 0`,
      `requireReceived ${outputToken} ${recipient} 90 0`,
    ],
  });
});

test("pays native tokens from the wrapped token by unwrapping, without returning a remainder first", () => {
  expect(decodeFill({ ...toNative, paidFrom: wrapped, swapCalls: [] }).callTexts).toEqual([
    `unwrapBalance ${wrapped} 90 0`,
    `nativeTransfer ${recipient} 90 90`,
  ]);
});

test("refuses to swap the native token without a wrapped token", () => {
  expect(() => fillWithSwap({ ...toNative, wrappedNative: undefined })).toThrow(RangeError);
});
