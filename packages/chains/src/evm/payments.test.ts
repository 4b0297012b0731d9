import fc from "fast-check";
import { expect, test } from "vitest";
import {
  encodeFillContract,
  encodeOrderCall,
  NATIVE_CURRENCY,
  type Address,
  type Hex,
} from "@causeway/domain";
import {
  alice,
  aTransaction,
  bob,
  dai,
  depository,
  logsOf,
  orderId,
  solver,
  solverCallExecuted,
  solverNativeTransfer,
  transfer,
  usdc,
  type Said,
} from "../../test/event-logs.ts";
import type { PaymentQuestion } from "../evidence.ts";
import type { TransactionFact } from "../family.ts";
import { judgePayments, type PaymentJudgement } from "./payments.ts";

// Numbers are those of the cases that an attestation must withstand.

const fill: Address = `0x${"f1".repeat(20)}`;
const strange: Address = `0x${"f2".repeat(20)}`;
const otherDepository: Address = `0x${"d2".repeat(20)}`;
const rules = { depositories: [depository, otherDepository], fillContracts: [fill], isZksyncStack: false };
const ended: Hex = `0xa9059cbb${"00".repeat(64)}${orderId.slice(2)}`;

function question(fields: Partial<PaymentQuestion> = {}): PaymentQuestion {
  return {
    orderId,
    deadline: 1_000,
    extraData: encodeFillContract(fill),
    receipts: [{ recipient: alice, currency: usdc }],
    calls: [],
    ...fields,
  };
}

function judge(
  said: readonly Said[],
  fields: Partial<PaymentQuestion> = {},
  transaction: Partial<TransactionFact> = {},
  timestamp = 1_000n,
): PaymentJudgement {
  const facts = {
    transaction: aTransaction({ input: ended, ...transaction }),
    logs: logsOf(...said),
    timestamp,
  };
  return judgePayments(rules, facts, question(fields));
}

const native = (recipient: string): Partial<PaymentQuestion> => ({
  receipts: [{ recipient, currency: NATIVE_CURRENCY }],
});

test("a token's payment is what its Transfers brought the recipient", () => {
  expect(judge([transfer(usdc, solver, alice, 7n)])).toEqual({ amounts: [7n] });
});

test("case 17: at the deadline is in time, a second later is not", () => {
  const said = [transfer(usdc, solver, alice, 7n)];
  expect(judge(said, { deadline: 1_000 }, {}, 1_000n)).toEqual({ amounts: [7n] });
  expect(judge(said, { deadline: 1_000 }, {}, 1_001n)).toHaveProperty("refusal");
});

test("the input must end with the order's id, byte by byte", () => {
  const said = [transfer(usdc, solver, alice, 7n)];
  expect(judge(said, {}, { input: orderId })).toEqual({ amounts: [7n] });
  const bare = orderId.slice(2);
  for (const input of [
    "0x",
    `0x${bare}00`,
    `0x${bare.slice(2)}`,
    `0x0${bare}`,
    `0x${"2e".repeat(32)}`,
  ] as Hex[])
    expect(judge(said, {}, { input })).toHaveProperty("refusal");
});

test("case 18: who ends with the id and pays somebody else, or in another token, has paid nothing", () => {
  expect(judge([transfer(usdc, solver, bob, 7n)])).toEqual({ amounts: [0n] });
  expect(judge([transfer(dai, solver, alice, 7n)])).toEqual({ amounts: [0n] });
});

test("case 19: each transfer is counted for one recipient and currency, and the same pair cannot be asked twice", () => {
  const receipts = [
    { recipient: alice, currency: usdc },
    { recipient: bob, currency: usdc },
    { recipient: alice, currency: dai },
  ];
  const said = [transfer(usdc, solver, alice, 7n), transfer(usdc, solver, alice, 1n)];
  expect(judge(said, { receipts })).toEqual({ amounts: [8n, 0n, 0n] });
  const twice = [
    { recipient: alice, currency: usdc },
    { recipient: alice, currency: usdc },
  ];
  expect(() => judge(said, { receipts: twice })).toThrow(RangeError);
});

test("case 20: coins that go round in circles count once, and what only passes through counts nothing", () => {
  const there = transfer(usdc, solver, alice, 7n);
  const back = transfer(usdc, alice, solver, 7n);
  expect(judge([there, back, there])).toEqual({ amounts: [7n] });
  expect(judge([there, back])).toEqual({ amounts: [0n] });
  expect(judge([transfer(usdc, alice, alice, 7n)])).toEqual({ amounts: [0n] });
  // More left than came: never negative.
  expect(judge([back])).toEqual({ amounts: [0n] });
});

test("a token whose Transfers cannot be read proves nothing", () => {
  const odd: Said = {
    ...transfer(usdc, alice, solver, 7n),
    topics: transfer(usdc, alice, solver, 7n).topics.slice(0, 1),
  };
  expect(judge([transfer(usdc, solver, alice, 7n), odd])).toHaveProperty("refusal");
  const noWord: Said = { ...transfer(usdc, alice, solver, 7n), data: "0x" };
  expect(judge([transfer(usdc, solver, alice, 7n), noWord])).toHaveProperty("refusal");
});

test("the recipient's own withdrawal is not the solver's payment, whoever submits it with the id behind", () => {
  expect(judge([transfer(usdc, depository, alice, 7n)])).toEqual({ amounts: [0n] });
  expect(judge([transfer(usdc, otherDepository, alice, 7n)])).toEqual({ amounts: [0n] });
});

test("who spends his own withdrawal in the transaction that pays him has kept the payment", () => {
  const paid = transfer(usdc, solver, alice, 7n);
  const withdrawn = transfer(usdc, depository, alice, 5n);
  expect(judge([paid, withdrawn, transfer(usdc, alice, bob, 5n)])).toEqual({ amounts: [7n] });
  expect(judge([paid, withdrawn, transfer(usdc, alice, bob, 6n)])).toEqual({ amounts: [6n] });
  expect(judge([paid, transfer(usdc, alice, bob, 5n)])).toEqual({ amounts: [2n] });
});

test("what is paid into a depository is a deposit, and not a payment as well", () => {
  for (const recipient of [depository, otherDepository]) {
    const receipts = [{ recipient, currency: usdc }];
    expect(judge([transfer(usdc, solver, recipient, 7n)], { receipts })).toHaveProperty("refusal");
    expect(judge([], native(recipient), { to: recipient, input: orderId, value: 7n })).toHaveProperty(
      "refusal",
    );
  }
});

test("native sent to the recipient with the id as its whole input is the value of the transaction", () => {
  expect(judge([], native(alice), { to: alice, input: orderId, value: 7n })).toEqual({ amounts: [7n] });
  // Anything before the id may make a contract do something else with it.
  expect(judge([], native(alice), { to: alice, input: ended, value: 7n })).toEqual({ amounts: [0n] });
  expect(judge([], native(alice), { to: bob, input: orderId, value: 7n })).toEqual({ amounts: [0n] });
});

test("native through the fill contract is the sum of what it reports for that recipient", () => {
  const said = [
    solverNativeTransfer(fill, alice, 3n),
    solverNativeTransfer(fill, bob, 50n),
    solverNativeTransfer(fill, alice, 4n),
  ];
  expect(judge(said, native(alice), { to: fill, value: 57n })).toEqual({ amounts: [7n] });
});

test("case 21: reports of a fill contract that nobody trusts, or that the order does not name, count nothing", () => {
  const said = [solverNativeTransfer(strange, alice, 7n)];
  expect(judge(said, { ...native(alice), extraData: encodeFillContract(strange) })).toEqual({
    amounts: [0n],
  });
  expect(judge(said, native(alice))).toEqual({ amounts: [0n] });
  const trusted = [solverNativeTransfer(fill, alice, 7n)];
  expect(judge(trusted, { ...native(alice), extraData: "0x" })).toEqual({ amounts: [0n] });
});

test("extraData that names no clean address is refused", () => {
  for (const extraData of [
    "0x00",
    `0x${"ff".repeat(32)}`,
    `${encodeFillContract(fill)}${"00".repeat(32)}`,
  ] as Hex[])
    expect(judge([transfer(usdc, solver, alice, 7n)], { extraData })).toHaveProperty("refusal");
});

test("native to the payer itself or to the fill contract proves nothing: no log shows it leave again", () => {
  expect(judge([], native(solver), { to: solver, input: orderId, value: 7n })).toHaveProperty("refusal");
  expect(judge([solverNativeTransfer(fill, fill, 7n)], native(fill))).toHaveProperty("refusal");
});

test("a mirror of the native coin is no token to be paid in", () => {
  const mirror: Address = "0x000000000000000000000000000000000000800a";
  const facts = {
    transaction: aTransaction({ input: ended }),
    logs: logsOf(transfer(mirror, solver, alice, 7n)),
    timestamp: 1n,
  };
  const asked = question({ receipts: [{ recipient: alice, currency: mirror }] });
  expect(judgePayments({ ...rules, isZksyncStack: true }, facts, asked)).toHaveProperty("refusal");
});

const first = { to: bob, data: "0x1234" as Hex, value: 0n };
const second = { to: dai, data: "0x" as Hex, value: 5n };
const calls = [encodeOrderCall(first), encodeOrderCall(second)];
const made = (call: typeof first, by = fill): Said => solverCallExecuted(by, call.to, call.data, call.value);
const paid = transfer(usdc, solver, alice, 7n);

test("case 22: all calls of the order, in order, each shown by a report of its own; others may stand between", () => {
  const other = made({ to: alice, data: "0x99", value: 0n });
  expect(judge([other, made(first), other, paid, made(second)], { calls })).toEqual({ amounts: [7n] });
  expect(judge([made(second), made(first), paid], { calls })).toHaveProperty("refusal");
  expect(judge([made(first), paid], { calls })).toHaveProperty("refusal");
  const twice = [encodeOrderCall(first), encodeOrderCall(first)];
  expect(judge([made(first), paid], { calls: twice })).toHaveProperty("refusal");
  expect(judge([made(first), made(first), paid], { calls: twice })).toEqual({ amounts: [7n] });
});

test("a call with another target, data or value, or reported by another contract, is not the order's", () => {
  const one = [encodeOrderCall(second)];
  for (const wrong of [
    made({ ...second, to: bob }),
    made({ ...second, data: "0x00" }),
    made({ ...second, value: 4n }),
    made(second, strange),
    solverNativeTransfer(fill, second.to, second.value),
  ])
    expect(judge([wrong, paid], { calls: one })).toHaveProperty("refusal");
  expect(
    judge([made(second, strange), paid], { calls: one, extraData: encodeFillContract(strange) }),
  ).toHaveProperty("refusal");
  expect(judge([{ ...made(second), data: "0x00" }, paid], { calls: one })).toHaveProperty("refusal");
});

test("invariant b: no recipient is credited more than it gained, and all together not more than was sent to them", () => {
  const people = [alice, bob, solver, strange];
  const move = fc
    .tuple(fc.constantFrom(...people), fc.constantFrom(...people), fc.bigInt({ min: 0n, max: 9n }))
    .map(([from, to, amount]) => ({ from, to, amount }));
  fc.assert(
    fc.property(fc.array(move, { maxLength: 12 }), (moves) => {
      const receipts = [alice, bob].map((recipient) => ({ recipient, currency: usdc }));
      const said = moves.map(({ from, to, amount }) => transfer(usdc, from, to, amount));
      const judged = judge(said, { receipts });
      const balances = new Map<string, bigint>();
      for (const { from, to, amount } of moves) {
        balances.set(from, (balances.get(from) ?? 0n) - amount);
        balances.set(to, (balances.get(to) ?? 0n) + amount);
      }
      const gained = [alice, bob]
        .map((who) => balances.get(who) ?? 0n)
        .map((gain) => (gain > 0n ? gain : 0n));
      expect(judged).toEqual({ amounts: gained });
    }),
  );
});
