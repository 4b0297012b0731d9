import { nativeCurrency } from "@causeway/domain";
import { expect, test } from "vitest";
import {
  aTransaction,
  carry,
  depository,
  orderId,
  other,
  otherId,
  pay,
  recipient,
  solver,
} from "../../../../test/support/bitcoin-transactions.ts";
import { judgePayments } from "./payments.ts";
import type { BitcoinOutput } from "./raw-transaction.ts";

const currency = nativeCurrency("bitcoin-vm");
const rules = { depositories: new Set([depository.script]) };
const fromSolver = [pay(solver, 100_000n)];
const toRecipient = { recipient: recipient.address, currency };

function judge(
  spent: readonly BitcoinOutput[],
  outputs: readonly BitcoinOutput[],
  { receipts = [toRecipient], timestamp = 1_000n, calls = [] as `0x${string}`[] } = {},
) {
  const question = { orderId, deadline: 1_000, extraData: "0x", receipts, calls } as const;
  return judgePayments(rules, { ...aTransaction(spent, outputs), timestamp }, question);
}

test("outputs to the recipient add up, when the order's id is the one that is carried", () => {
  const outputs = [pay(recipient, 7n), carry(orderId), pay(solver, 5n), pay(recipient, 3n), carry("thanks")];
  expect(judge(fromSolver, outputs)).toEqual({ amounts: [10n] });
});

test("what the recipient put in itself is taken off, and never less than nothing is left", () => {
  expect(judge([...fromSolver, pay(recipient, 4n)], [pay(recipient, 10n), carry(orderId)])).toEqual({
    amounts: [6n],
  });
  expect(judge([pay(recipient, 40n)], [pay(recipient, 10n), carry(orderId)])).toEqual({ amounts: [0n] });
});

test.each([
  ["no id", []],
  ["another order's id", [carry(otherId)]],
  ["two orders' ids", [carry(orderId), carry(otherId)]],
  ["the id twice", [carry(orderId), carry(orderId)]],
  ["the id and a deposit's", [carry(orderId), carry(`${otherId}|depositor=${other.address}|`)]],
  ["the id and more", [carry(`${orderId}|`)]],
  ["the id in upper case", [carry(`0x${"AB".repeat(32)}`)]],
])("a payment with %s pays no order", (_, texts) => {
  expect(judge(fromSolver, [pay(recipient, 1n), ...texts])).toHaveProperty("refusal");
});

test("a payment counts in the last second of its order, and not after it", () => {
  expect(judge(fromSolver, [pay(recipient, 1n), carry(orderId)], { timestamp: 1_000n })).toEqual({
    amounts: [1n],
  });
  expect(judge(fromSolver, [pay(recipient, 1n), carry(orderId)], { timestamp: 1_001n })).toHaveProperty(
    "refusal",
  );
});

test("no depository pays for a solver, and none is paid", () => {
  expect(judge([...fromSolver, pay(depository, 9n)], [pay(recipient, 1n), carry(orderId)])).toHaveProperty(
    "refusal",
  );
  expect(
    judge(fromSolver, [pay(depository, 1n), carry(orderId)], {
      receipts: [{ ...toRecipient, recipient: depository.address }],
    }),
  ).toHaveProperty("refusal");
});

test("a deposit with the order's id is no payment, wherever its change goes", () => {
  // The user keeps coins under two addresses; the change of his own deposit goes to the one that a refund is to go to.
  const deposit = [pay(depository, 10_000n), carry(orderId), pay(recipient, 90_000n)];
  expect(judge([pay(other, 100_000n)], deposit)).toEqual({
    refusal: "the transaction pays a depository: it is a deposit",
  });
});

test("an order with calls cannot be filled there", () => {
  expect(judge(fromSolver, [pay(recipient, 1n), carry(orderId)], { calls: ["0x00"] })).toHaveProperty(
    "refusal",
  );
});

test("nothing but the coin itself can be paid, and one output is not two recipients'", () => {
  const receipts = [
    toRecipient,
    { recipient: other.address, currency },
    { recipient: recipient.address, currency: other.address },
  ];
  expect(judge(fromSolver, [pay(recipient, 5n), carry(orderId)], { receipts })).toEqual({
    amounts: [5n, 0n, 0n],
  });
  expect(() => judge(fromSolver, [carry(orderId)], { receipts: [toRecipient, toRecipient] })).toThrow(
    RangeError,
  );
});
