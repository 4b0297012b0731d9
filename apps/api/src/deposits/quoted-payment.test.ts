import type { TransactionFact } from "@causeway/chains";
import { NATIVE_CURRENCY, nativeTransferWithIdCalldata, transferWithIdCalldata } from "@causeway/domain";
import type { Address, FrameLog } from "@causeway/domain";
import { expect, test } from "vitest";
import { hasArrived, isQuotedPayment } from "./quoted-payment.ts";

function anAddress(digit: string): Address {
  return `0x${digit.repeat(40)}`;
}

const user = "0x1111111111111111111111111111111111111111";
const recipient = "0x2222222222222222222222222222222222222222";
const stranger = "0x3333333333333333333333333333333333333333";
const usdc = "0x4444444444444444444444444444444444444444";
const requestId = `0x${"ab".repeat(32)}` as const;

const [router, approvalProxy] = [anAddress("5"), anAddress("6")];
const [depository, pool] = [anAddress("7"), anAddress("8")];
const chain = { contracts: { router, approvalProxy, depository } };

const native = {
  kind: "send",
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
  input: requestId,
  value: 7n,
  nonce: 0,
};
const payErc20: TransactionFact = {
  ...payNative,
  to: usdc,
  value: 0n,
  input: transferWithIdCalldata(recipient, 7n, requestId),
};

test("counts the exact payment that was quoted", () => {
  expect(isQuotedPayment(native, chain, payNative)).toBe(true);
  expect(isQuotedPayment(erc20, chain, payErc20)).toBe(true);
});

test("counts a native payment to a contract if the router makes it for the request", () => {
  const routed = { ...payNative, to: router, input: nativeTransferWithIdCalldata(recipient, 7n, requestId) };
  expect(isQuotedPayment(native, chain, routed)).toBe(true);
  expect(isQuotedPayment(native, chain, { ...routed, value: 8n })).toBe(false);
  expect(isQuotedPayment(native, chain, { ...routed, to: approvalProxy })).toBe(false);
  const input = nativeTransferWithIdCalldata(stranger, 7n, requestId);
  expect(isQuotedPayment(native, chain, { ...routed, input })).toBe(false);
});

test("ignores bytes that a wallet appends", () => {
  expect(isQuotedPayment(native, chain, { ...payNative, input: `${requestId}00beef` })).toBe(true);
  expect(isQuotedPayment(erc20, chain, { ...payErc20, input: `${payErc20.input}00beef` })).toBe(true);
});

test.each<[string, Partial<TransactionFact>]>([
  ["from a different account", { from: stranger }],
  ["to a different account", { to: stranger }],
  ["that creates a contract", { to: undefined }],
  ["of one unit less", { value: 6n }],
  ["of one unit more", { value: 8n }],
  ["without an id", { input: "0x" }],
  ["for a different request", { input: `0x${"cd".repeat(32)}` }],
])("does not count a native payment %s", (_what, change) => {
  expect(isQuotedPayment(native, chain, { ...payNative, ...change })).toBe(false);
});

test.each<[string, Partial<TransactionFact>]>([
  ["of a different token", { to: stranger }],
  ["to a different recipient", { input: transferWithIdCalldata(stranger, 7n, requestId) }],
  ["with a different amount", { input: transferWithIdCalldata(recipient, 6n, requestId) }],
  ["for a different request", { input: transferWithIdCalldata(recipient, 7n, `0x${"cd".repeat(32)}`) }],
  ["without an id", { input: payErc20.input.slice(0, -64) as "0x" }],
])("does not count a token transfer %s", (_what, change) => {
  expect(isQuotedPayment(erc20, chain, { ...payErc20, ...change })).toBe(false);
});

const swap = {
  ...native,
  kind: "swap",
  destination: { chainId: 1, currency: usdc, expectedAmount: 100n, minimumAmount: 99n },
} as const;
const swapTransaction: TransactionFact = { ...payNative, to: router, input: `0x1234${requestId.slice(2)}` };

test("recognizes a swap by its request id in a transaction through the router, regardless of its sender", () => {
  expect(isQuotedPayment(swap, chain, swapTransaction)).toBe(true);
  expect(isQuotedPayment(swap, chain, { ...swapTransaction, to: approvalProxy, from: stranger })).toBe(true);
  expect(isQuotedPayment(swap, chain, { ...swapTransaction, input: `${swapTransaction.input}00beef` })).toBe(
    true,
  );
  expect(isQuotedPayment(swap, chain, { ...swapTransaction, to: stranger })).toBe(false);
  expect(isQuotedPayment(swap, chain, { ...swapTransaction, to: undefined })).toBe(false);
  expect(isQuotedPayment(swap, chain, { ...swapTransaction, input: `0x1234${"cd".repeat(32)}` })).toBe(false);
});

const word = (value: string | bigint): string =>
  (typeof value === "bigint" ? value.toString(16) : value.slice(2)).padStart(64, "0");
const transferLog = (from: Address, to: Address, amount: bigint, token: Address = usdc): FrameLog => ({
  address: token,
  topics: [
    "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",
    `0x${word(from)}`,
    `0x${word(to)}`,
  ],
  data: `0x${word(amount)}`,
});
const nativePaymentLog = (payer: Address, to: Address, amount: bigint): FrameLog => ({
  address: payer,
  topics: ["0xd35467972d1fda5b63c735f59d3974fa51785a41a92aa3ed1b70832836f8dba6"],
  data: `0x${word(to)}${word(amount)}`,
});
/** Whether the logs of a mined swap pay what was promised. */
const isPaid = (terms: Parameters<typeof hasArrived>[0], ...logs: readonly FrameLog[]): boolean =>
  hasArrived(terms, chain, {
    logs: logs.map((log, logIndex) => ({
      ...log,
      logIndex,
      blockNumber: 1n,
      blockHash: "0x01",
      txHash: swapTransaction.hash,
    })),
  });

test.each<[string, readonly FrameLog[]]>([
  ["the promised minimum from a pool", [transferLog(pool, recipient, 99n)]],
  ["the promised minimum in parts", [transferLog(pool, recipient, 50n), transferLog(router, recipient, 49n)]],
])("counts a swap whose logs pay %s", (_what, logs) => {
  expect(isPaid(swap, ...logs)).toBe(true);
});

test.each<[string, readonly FrameLog[]]>([
  ["one unit less than the minimum", [transferLog(pool, recipient, 98n)]],
  [
    "a recipient who forwards a part of the minimum",
    [transferLog(pool, recipient, 100n), transferLog(recipient, stranger, 2n)],
  ],
  ["another token", [transferLog(pool, recipient, 100n, stranger)]],
  ["someone else", [transferLog(pool, stranger, 100n)]],
  ["the recipient from a depository", [transferLog(depository, recipient, 100n)]],
  ["nothing", []],
])("does not count a swap whose logs pay %s", (_what, logs) => {
  expect(isPaid(swap, ...logs)).toBe(false);
});

test("counts a swap into native tokens by the payment that the chain's own router logged", () => {
  const toNative = { ...swap, destination: { ...swap.destination, currency: NATIVE_CURRENCY } };
  expect(isPaid(toNative, nativePaymentLog(router, recipient, 99n))).toBe(true);
  expect(isPaid(toNative, nativePaymentLog(router, recipient, 98n))).toBe(false);
  expect(isPaid(toNative, nativePaymentLog(router, stranger, 99n))).toBe(false);
  expect(isPaid(toNative, nativePaymentLog(stranger, recipient, 99n))).toBe(false);
});

test("does not count a swap without a minimum if it pays nothing", () => {
  const anything = { ...swap, destination: { ...swap.destination, minimumAmount: 0n } };
  expect(isPaid(anything, transferLog(pool, recipient, 1n))).toBe(true);
  expect(isPaid(anything)).toBe(false);
});

test("counts a user's own native payment by its value, and a token payment by what the recipient keeps", () => {
  const send = { ...swap, kind: "send" } as const;
  expect(isPaid({ ...send, destination: { ...swap.destination, currency: NATIVE_CURRENCY } })).toBe(true);
  expect(isPaid(send, transferLog(user, recipient, 99n))).toBe(true);
  expect(isPaid(send, transferLog(user, recipient, 98n))).toBe(false);
  expect(isPaid(send)).toBe(false);
});

test("counts a payment through a former router, not through an unknown one", () => {
  const unknownRouter = anAddress("9");
  const rotated = { contracts: { ...chain.contracts, router: anAddress("e"), formerContracts: [router] } };
  const input = nativeTransferWithIdCalldata(recipient, 7n, requestId);
  expect(isQuotedPayment(native, rotated, { ...payNative, to: router, input })).toBe(true);
  expect(isQuotedPayment(native, rotated, { ...payNative, to: unknownRouter, input })).toBe(false);
  expect(isQuotedPayment(swap, rotated, swapTransaction)).toBe(true);
  const toNative = { ...swap, destination: { ...swap.destination, currency: NATIVE_CURRENCY } };
  const receipt = (payer: Address) => ({
    logs: [
      {
        ...nativePaymentLog(payer, recipient, 99n),
        logIndex: 0,
        blockNumber: 1n,
        blockHash: "0x01",
        txHash: "0x02",
      },
    ] as const,
  });
  expect(hasArrived(toNative, rotated, receipt(router))).toBe(true);
  expect(hasArrived(toNative, rotated, receipt(unknownRouter))).toBe(false);
});
