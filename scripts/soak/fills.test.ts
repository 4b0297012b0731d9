import { encodeFunctionData, erc20Abi, type Hex } from "viem";
import { expect, test } from "vitest";
import type { ScannedTransaction } from "./chain-scan.ts";
import { maxInFlight, readPayment } from "./fills.ts";

const orderId: Hex = `0x${"ab".repeat(32)}`;
const someone: Hex = `0x${"12".repeat(20)}`;
const token: Hex = `0x${"34".repeat(20)}`;

function aTransaction(facts: { to: Hex; value: bigint; input: Hex }): ScannedTransaction {
  return {
    chainId: 1,
    hash: orderId,
    blockNumber: 1n,
    timestampSeconds: 1n,
    from: someone,
    nonce: 0,
    succeeded: true,
    gasUsed: 0n,
    effectiveGasPrice: 0n,
    baseFeePerGas: 0n,
    feeRecipient: someone,
    transferParties: [],
    ...facts,
  };
}

test("a native fill pays its value to its receiver and its whole input is the order", () => {
  const payment = readPayment(aTransaction({ to: someone, value: 7n, input: orderId }));
  expect(payment).toMatchObject({ orderId, recipient: someone, amount: 7n, currency: `0x${"0".repeat(40)}` });
});

test("a token fill pays what its transfer says and its input ends with the order", () => {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [someone, 9n] });
  const payment = readPayment(aTransaction({ to: token, value: 0n, input: `${data}${orderId.slice(2)}` }));
  expect(payment).toMatchObject({ orderId, recipient: someone, amount: 9n, currency: token });
});

test("a no-op belongs to no order", () => {
  expect(readPayment(aTransaction({ to: someone, value: 0n, input: "0x" })).orderId).toBeUndefined();
});

test("a fill that ends when another starts is not in flight with it", () => {
  const spans = [
    { fromMs: 0, toMs: 10 },
    { fromMs: 10, toMs: 20 },
    { fromMs: 12, toMs: 30 },
    { fromMs: 15, toMs: 16 },
  ];
  expect(maxInFlight(spans)).toBe(3);
});
