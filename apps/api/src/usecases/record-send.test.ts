import type { TransactionFact } from "@causeway/chains";
import { NATIVE_CURRENCY, transferWithIdCalldata } from "@causeway/domain";
import { expect, test } from "vitest";
import { isQuotedPayment } from "./record-send.ts";

const user = "0x1111111111111111111111111111111111111111";
const recipient = "0x2222222222222222222222222222222222222222";
const stranger = "0x3333333333333333333333333333333333333333";
const usdc = "0x4444444444444444444444444444444444444444";
const requestId = `0x${"ab".repeat(32)}` as const;

const native = {
  requestId,
  user,
  recipient,
  origin: { chainId: 1, currency: NATIVE_CURRENCY, amount: 7n },
} as const;
const erc20 = { ...native, origin: { ...native.origin, currency: usdc } } as const;
const payNative: TransactionFact = {
  hash: "0xaa",
  from: user,
  to: recipient,
  input: "0x",
  value: 7n,
  nonce: 0,
};
const payErc20: TransactionFact = {
  ...payNative,
  to: usdc,
  value: 0n,
  input: transferWithIdCalldata(recipient, 7n, requestId),
};

test("the very payment that was quoted counts", () => {
  expect(isQuotedPayment(native, payNative)).toBe(true);
  expect(isQuotedPayment(erc20, payErc20)).toBe(true);
});

test("bytes that a wallet appends for its own ends do not change what was paid", () => {
  expect(isQuotedPayment(native, { ...payNative, input: "0x00beef" })).toBe(true);
  expect(isQuotedPayment(erc20, { ...payErc20, input: `${payErc20.input}00beef` })).toBe(true);
});

test.each<[string, Partial<TransactionFact>]>([
  ["from another account", { from: stranger }],
  ["to another account", { to: stranger }],
  ["that creates a contract", { to: undefined }],
  ["of one unit less", { value: 6n }],
  ["of one unit more", { value: 8n }],
])("a native payment %s does not", (_what, change) => {
  expect(isQuotedPayment(native, { ...payNative, ...change })).toBe(false);
});

test.each<[string, Partial<TransactionFact>]>([
  ["of another token", { to: stranger }],
  ["to another recipient", { input: transferWithIdCalldata(stranger, 7n, requestId) }],
  ["of another amount", { input: transferWithIdCalldata(recipient, 6n, requestId) }],
  ["for another request", { input: transferWithIdCalldata(recipient, 7n, `0x${"cd".repeat(32)}`) }],
  ["without an id", { input: payErc20.input.slice(0, -64) as "0x" }],
])("a token transfer %s does not", (_what, change) => {
  expect(isQuotedPayment(erc20, { ...payErc20, ...change })).toBe(false);
});
