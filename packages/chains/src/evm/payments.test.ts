import { approvalProxyAbi, depositoryAbi, routerAbi } from "@causeway/contracts";
import fc from "fast-check";
import { encodeFunctionData, erc20Abi, getAbiItem, toFunctionSelector } from "viem";
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
  erc20Deposit,
  logsOf,
  nativeDeposit,
  orderId,
  solver,
  solverCallExecuted,
  solverNativeTransfer,
  transfer,
  usdc,
  type EmittedLog,
} from "../../test/event-logs.ts";
import type { PaymentQuestion } from "@causeway/families";
import {
  addressTopic,
  judgePayments,
  type PaymentJudgment,
  type TransactionFact,
} from "@causeway/families/evm";

// Numbers in test names refer to the cases that an attestation must withstand.

const fill: Address = `0x${"f1".repeat(20)}`;
const strange: Address = `0x${"f2".repeat(20)}`;
const otherDepository: Address = `0x${"d2".repeat(20)}`;
const proxy: Address = `0x${"f3".repeat(20)}`;
const rules = {
  depositories: [depository, otherDepository],
  fillContracts: [fill, proxy],
  isZksyncStack: false,
};
const tail = orderId.slice(2);
const endsWithId: Hex = `0x12345678${tail}`;

function question(fields: Partial<PaymentQuestion> = {}): PaymentQuestion {
  return {
    orderId,
    solver,
    deadline: 1_000,
    extraData: encodeFillContract(fill),
    receipts: [{ recipient: alice, currency: usdc }],
    calls: [],
    ...fields,
  };
}

function judge(
  emitted: readonly EmittedLog[],
  fields: Partial<PaymentQuestion> = {},
  transaction: Partial<TransactionFact> = transferring(alice, 7n),
  timestamp = 1_000n,
): PaymentJudgment {
  const facts = {
    transaction: aTransaction({ input: endsWithId, ...transaction }),
    logs: logsOf(...emitted),
    timestamp,
  };
  return judgePayments(rules, facts, question(fields));
}

/** A call of a token's own `transfer`, by the sender of the transaction. */
function transferring(to: Address, amount: bigint, token = usdc): Partial<TransactionFact> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, amount] });
  return { to: token, input: `${data}${tail}` };
}

interface Step {
  readonly to: Address;
  readonly data: Hex;
  readonly value?: bigint;
  readonly allowFailure?: boolean;
}
const step = (amount: bigint, to = alice, token = usdc): Step => {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, amount] });
  return { to: token, data };
};
const toRouter = (data: Hex): Step => ({ to: fill, data });
const payNative = (to: Address, amount: bigint): Step =>
  toRouter(encodeFunctionData({ abi: routerAbi, functionName: "nativeTransfer", args: [to, amount] }));
const payAll = (currency: Address, to: Address, minimum: bigint): Step =>
  toRouter(encodeFunctionData({ abi: routerAbi, functionName: "payBalance", args: [currency, to, minimum] }));
const noteBalance = (account: Address): Step =>
  toRouter(encodeFunctionData({ abi: routerAbi, functionName: "noteBalance", args: [usdc, account] }));
const requireReceived = (account: Address, amount: bigint): Step =>
  toRouter(
    encodeFunctionData({ abi: routerAbi, functionName: "requireReceived", args: [usdc, account, amount] }),
  );
const encodeDeposit = (id: Hex): Step => ({
  to: depository,
  data: encodeFunctionData({ abi: depositoryAbi, functionName: "depositNative", args: [bob, id] }),
});
const anything: Step = { to: strange, data: "0xdeadbeef" };

const withDefaults = (steps: readonly Step[]) =>
  steps.map((routerStep) => ({ value: 0n, allowFailure: false, ...routerStep }));
/** The router called by the sender of the transaction. */
function throughRouter(steps: readonly Step[], value = 0n): Partial<TransactionFact> {
  const args = [withDefaults(steps), solver, []] as const;
  const data = encodeFunctionData({ abi: routerAbi, functionName: "multicall", args });
  return { to: fill, input: `${data}${tail}`, value };
}
/** The router through the approval proxy, with tokens that it pulls from the sender of the transaction. */
function throughProxy(steps: readonly Step[], to = proxy): Partial<TransactionFact> {
  const args = [usdc, 100n, withDefaults(steps), solver, []] as const;
  const data = encodeFunctionData({ abi: approvalProxyAbi, functionName: "pullAndRoute", args });
  return { to, input: `${data}${tail}` };
}

const native = (recipient: string): Partial<PaymentQuestion> => ({
  receipts: [{ recipient, currency: NATIVE_CURRENCY }],
});

test("counts what the recipient received by the token's Transfers", () => {
  expect(judge([transfer(usdc, solver, alice, 7n)])).toEqual({ amounts: [7n] });
});

test("accepts a payment at the deadline and refuses one a second later", () => {
  const emitted = [transfer(usdc, solver, alice, 7n)];
  const paying = transferring(alice, 7n);
  expect(judge(emitted, { deadline: 1_000 }, paying, 1_000n)).toEqual({ amounts: [7n] });
  expect(judge(emitted, { deadline: 1_000 }, paying, 1_001n)).toHaveProperty("refusal");
});

test("requires that the input ends with exactly the order id", () => {
  const emitted = [transfer(usdc, solver, alice, 7n)];
  expect(judge(emitted)).toEqual({ amounts: [7n] });
  const bare = orderId.slice(2);
  for (const input of [
    "0x",
    `0x${bare}00`,
    `0x${bare.slice(2)}`,
    `0x0${bare}`,
    `0x${"2e".repeat(32)}`,
  ] as Hex[])
    expect(judge(emitted, {}, { input })).toHaveProperty("refusal");
});

test("counts nothing for calldata that ends with the id but pays another recipient or in another token", () => {
  expect(judge([transfer(usdc, solver, bob, 7n)])).toEqual({ amounts: [0n] });
  expect(judge([transfer(dai, solver, alice, 7n)])).toEqual({ amounts: [0n] });
});

test("counts each transfer for one recipient and currency, and refuses the same pair twice", () => {
  const receipts = [
    { recipient: alice, currency: usdc },
    { recipient: bob, currency: usdc },
    { recipient: alice, currency: dai },
  ];
  const emitted = [transfer(usdc, solver, alice, 7n), transfer(usdc, solver, alice, 1n)];
  expect(judge(emitted, { receipts }, transferring(alice, 8n))).toEqual({ amounts: [8n, 0n, 0n] });
  // Each recipient and currency by its named amount.
  const fromFill = [...emitted, transfer(usdc, solver, bob, 2n), transfer(dai, solver, alice, 3n)].map(
    (emittedLog) => ({
      ...emittedLog,
      topics: [emittedLog.topics[0] ?? "0x", addressTopic(fill), ...emittedLog.topics.slice(2)] as const,
    }),
  );
  const paying = throughRouter([step(8n), step(2n, bob), step(3n, alice, dai)]);
  expect(judge(fromFill, { receipts }, paying)).toEqual({ amounts: [8n, 2n, 3n] });
  const twice = [
    { recipient: alice, currency: usdc },
    { recipient: alice, currency: usdc },
  ];
  expect(() => judge(emitted, { receipts: twice })).toThrow(RangeError);
});

test("counts funds that circulate once, and does not count funds that only pass through", () => {
  const payment = transfer(usdc, solver, alice, 7n);
  const returned = transfer(usdc, alice, solver, 7n);
  expect(judge([payment, returned, payment], {}, transferring(alice, 14n))).toEqual({ amounts: [7n] });
  expect(judge([payment, returned])).toEqual({ amounts: [0n] });
  expect(judge([transfer(usdc, alice, alice, 7n)])).toEqual({ amounts: [0n] });
  // If more left than arrived, the amount is not negative.
  expect(judge([returned])).toEqual({ amounts: [0n] });
});

test("does not count a token with unreadable Transfers", () => {
  const unreadable: EmittedLog = {
    ...transfer(usdc, alice, solver, 7n),
    topics: transfer(usdc, alice, solver, 7n).topics.slice(0, 1),
  };
  expect(judge([transfer(usdc, solver, alice, 7n), unreadable])).toHaveProperty("refusal");
  const noWord: EmittedLog = { ...transfer(usdc, alice, solver, 7n), data: "0x" };
  expect(judge([transfer(usdc, solver, alice, 7n), noWord])).toHaveProperty("refusal");
});

test("the recipient's own withdrawal is not a payment by the sender that submits it with the id", () => {
  expect(judge([transfer(usdc, depository, alice, 7n)])).toEqual({ amounts: [0n] });
  expect(judge([transfer(usdc, otherDepository, alice, 7n)])).toEqual({ amounts: [0n] });
});

test("a recipient that spends its own withdrawal in the transaction that pays it keeps the payment", () => {
  const payment = transfer(usdc, solver, alice, 7n);
  const withdrawn = transfer(usdc, depository, alice, 5n);
  expect(judge([payment, withdrawn, transfer(usdc, alice, bob, 5n)])).toEqual({ amounts: [7n] });
  expect(judge([payment, withdrawn, transfer(usdc, alice, bob, 6n)])).toEqual({ amounts: [6n] });
  expect(judge([payment, transfer(usdc, alice, bob, 5n)])).toEqual({ amounts: [2n] });
});

test("a transfer to a depository is a deposit, not also a payment", () => {
  for (const recipient of [depository, otherDepository]) {
    const receipts = [{ recipient, currency: usdc }];
    expect(judge([transfer(usdc, solver, recipient, 7n)], { receipts })).toHaveProperty("refusal");
    expect(judge([], native(recipient), { to: recipient, input: orderId, value: 7n })).toHaveProperty(
      "refusal",
    );
  }
});

test("counts the value of a native transfer to the recipient with the id as its whole input", () => {
  expect(judge([], native(alice), { to: alice, input: orderId, value: 7n })).toEqual({ amounts: [7n] });
  // Data before the id may make a contract use it differently.
  expect(judge([], native(alice), { to: alice, input: endsWithId, value: 7n })).toEqual({ amounts: [0n] });
  expect(judge([], native(alice), { to: bob, input: orderId, value: 7n })).toEqual({ amounts: [0n] });
});

test("counts the sum of the fill contract's reports of native payments to the recipient", () => {
  const emitted = [
    solverNativeTransfer(fill, alice, 3n),
    solverNativeTransfer(fill, bob, 50n),
    solverNativeTransfer(fill, alice, 4n),
  ];
  const paying = throughRouter([payNative(alice, 3n), payNative(bob, 50n), payNative(alice, 4n)], 57n);
  expect(judge(emitted, native(alice), paying)).toEqual({ amounts: [7n] });
  const nativeTransferData = encodeFunctionData({
    abi: routerAbi,
    functionName: "nativeTransfer",
    args: [alice, 7n],
  });
  const alone = { to: fill, input: `${nativeTransferData}${tail}` as Hex, value: 7n };
  expect(judge([solverNativeTransfer(fill, alice, 7n)], native(alice), alone)).toEqual({ amounts: [7n] });
  // A function other than the router's: the trusted contract's own reports count.
  const foreign = { to: fill, input: endsWithId, value: 57n };
  expect(judge(emitted, native(alice), foreign)).toEqual({ amounts: [7n] });
});

test("ignores reports of a fill contract that is not trusted or that the order does not name", () => {
  const emitted = [solverNativeTransfer(strange, alice, 7n)];
  const paying = throughRouter([payNative(alice, 7n)], 7n);
  const elsewhere = { ...paying, to: strange };
  expect(judge(emitted, { ...native(alice), extraData: encodeFillContract(strange) }, elsewhere)).toEqual({
    amounts: [0n],
  });
  expect(judge(emitted, native(alice), elsewhere)).toEqual({ amounts: [0n] });
  const trusted = [solverNativeTransfer(fill, alice, 7n)];
  expect(judge(trusted, native(alice), paying)).toEqual({ amounts: [7n] });
  expect(judge(trusted, { ...native(alice), extraData: "0x" }, paying)).toEqual({ amounts: [0n] });
});

test("refuses extraData without a properly encoded address", () => {
  for (const extraData of [
    "0x00",
    `0x${"ff".repeat(32)}`,
    `${encodeFillContract(fill)}${"00".repeat(32)}`,
  ] as Hex[])
    expect(judge([transfer(usdc, solver, alice, 7n)], { extraData })).toHaveProperty("refusal");
});

test("does not count a payment to the payer itself, or a native payment to the fill contract", () => {
  expect(judge([], native(solver), { to: solver, input: orderId, value: 7n })).toHaveProperty("refusal");
  expect(
    judge([solverNativeTransfer(fill, fill, 7n)], native(fill), throughRouter([payNative(fill, 7n)])),
  ).toHaveProperty("refusal");
  const change = { receipts: [{ recipient: solver, currency: usdc }] };
  expect(judge([transfer(usdc, fill, solver, 7n)], change, throughRouter([step(7n, solver)]))).toHaveProperty(
    "refusal",
  );
});

test("refuses a mirror of the native token as the paid token", () => {
  const mirror: Address = "0x000000000000000000000000000000000000800a";
  const rollupMirror: Address = "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0000";
  const inMirror = { receipts: [{ recipient: alice, currency: rollupMirror }] };
  expect(
    judge([transfer(rollupMirror, solver, alice, 7n)], inMirror, transferring(alice, 7n, rollupMirror)),
  ).toHaveProperty("refusal");
  const facts = {
    transaction: aTransaction({ input: endsWithId }),
    logs: logsOf(transfer(mirror, solver, alice, 7n)),
    timestamp: 1n,
  };
  const mirrorQuestion = question({ receipts: [{ recipient: alice, currency: mirror }] });
  expect(judgePayments({ ...rules, isZksyncStack: true }, facts, mirrorQuestion)).toHaveProperty("refusal");
});

const first = { to: bob, data: "0x1234" as Hex, value: 0n };
const second = { to: dai, data: "0x" as Hex, value: 5n };
const calls = [encodeOrderCall(first), encodeOrderCall(second)];
const callExecuted = (call: typeof first, emitter = fill): EmittedLog =>
  solverCallExecuted(emitter, call.to, call.data, call.value);
const payment = transfer(usdc, fill, alice, 7n);
const throughRouterWithCalls = throughRouter([step(7n), anything]);

test("requires every call of the order, in order, each with its own event; other calls may come between", () => {
  const otherCall = callExecuted({ to: alice, data: "0x99", value: 0n });
  expect(
    judge(
      [otherCall, callExecuted(first), otherCall, payment, callExecuted(second)],
      { calls },
      throughRouterWithCalls,
    ),
  ).toEqual({
    amounts: [7n],
  });
  expect(
    judge([callExecuted(second), callExecuted(first), payment], { calls }, throughRouterWithCalls),
  ).toHaveProperty("refusal");
  expect(judge([callExecuted(first), payment], { calls }, throughRouterWithCalls)).toHaveProperty("refusal");
  const twice = [encodeOrderCall(first), encodeOrderCall(first)];
  expect(judge([callExecuted(first), payment], { calls: twice }, throughRouterWithCalls)).toHaveProperty(
    "refusal",
  );
  expect(
    judge([callExecuted(first), callExecuted(first), payment], { calls: twice }, throughRouterWithCalls),
  ).toEqual({ amounts: [7n] });
});

test("does not accept a call with another target, data or value, or reported by another contract", () => {
  const orderCalls = [encodeOrderCall(second)];
  for (const wrong of [
    callExecuted({ ...second, to: bob }),
    callExecuted({ ...second, data: "0x00" }),
    callExecuted({ ...second, value: 4n }),
    callExecuted(second, strange),
    solverNativeTransfer(fill, second.to, second.value),
  ])
    expect(judge([wrong, payment], { calls: orderCalls }, throughRouterWithCalls)).toHaveProperty("refusal");
  expect(
    judge(
      [callExecuted(second, strange), payment],
      { calls: orderCalls, extraData: encodeFillContract(strange) },
      throughRouterWithCalls,
    ),
  ).toHaveProperty("refusal");
  expect(
    judge(
      [{ ...callExecuted(second), data: "0x00" }, payment],
      { calls: orderCalls },
      throughRouterWithCalls,
    ),
  ).toHaveProperty("refusal");
});

test("counts calls only if the sender of the transaction called the fill contract", () => {
  const orderCalls = [encodeOrderCall(first)];
  const emitted = [callExecuted(first), payment];
  expect(judge(emitted, { calls: orderCalls }, throughRouterWithCalls)).toEqual({ amounts: [7n] });
  expect(judge(emitted, { calls: orderCalls }, { ...throughRouterWithCalls, to: strange })).toHaveProperty(
    "refusal",
  );
});

test("invariant b: no recipient is credited more than it gained, and all together not more than was sent to them", () => {
  const people = [alice, bob, fill, strange];
  const move = fc
    .tuple(fc.constantFrom(...people), fc.constantFrom(...people), fc.bigInt({ min: 0n, max: 9n }))
    .map(([from, to, amount]) => ({ from, to, amount }));
  fc.assert(
    fc.property(fc.array(move, { maxLength: 12 }), (moves) => {
      const receipts = [alice, bob].map((recipient) => ({ recipient, currency: usdc }));
      const emitted = moves.map(({ from, to, amount }) => transfer(usdc, from, to, amount));
      const judged = judge(emitted, { receipts }, throughRouter([step(100n), step(100n, bob)]));
      const balances = new Map<string, bigint>();
      for (const { from, to, amount } of moves) {
        balances.set(from, (balances.get(from) ?? 0n) - amount);
        balances.set(to, (balances.get(to) ?? 0n) + amount);
      }
      const sentByFill = (to: Address) =>
        moves.reduce((sum, move) => (move.from === fill && move.to === to ? sum + move.amount : sum), 0n);
      for (const [index, recipient] of [alice, bob].entries()) {
        const gained = balances.get(recipient) ?? 0n;
        const counted = "amounts" in judged ? (judged.amounts[index] ?? 0n) : 0n;
        expect(counted <= (gained > 0n ? gained : 0n)).toBe(true);
        expect(counted <= sentByFill(recipient)).toBe(true);
        // With no other payment to the recipient, the counted amount is exactly what they gained.
        if (!moves.some(({ from, to }) => to === recipient && from !== fill && from !== recipient))
          expect(counted).toBe(gained > 0n ? gained : 0n);
      }
    }),
  );
});

test("counts fills by the service: direct, through the router, and through the approval proxy", () => {
  const fromRouter = transfer(usdc, fill, alice, 7n);
  expect(judge([fromRouter], {}, throughRouter([anything, step(7n)]))).toEqual({ amounts: [7n] });
  expect(judge([fromRouter], {}, throughProxy([anything, step(7n)]))).toEqual({ amounts: [7n] });
  // `payAll` pays the whole balance; at least the minimum is certain.
  expect(judge([fromRouter], {}, throughProxy([anything, payAll(usdc, alice, 5n)]))).toEqual({
    amounts: [5n],
  });
  const both = { receipts: [{ recipient: alice, currency: usdc }, ...(native(alice).receipts ?? [])] };
  expect(
    judge(
      [fromRouter, solverNativeTransfer(fill, alice, 2n)],
      both,
      throughProxy([step(7n), payNative(alice, 2n)]),
    ),
  ).toEqual({ amounts: [7n, 2n] });
  const paysRemainder = throughProxy([anything, payAll(NATIVE_CURRENCY, alice, 3n)]);
  expect(judge([solverNativeTransfer(fill, alice, 4n)], native(alice), paysRemainder)).toEqual({
    amounts: [3n],
  });
});

/** The events of an order book when `by` takes a limit order of the recipient. */
const trade = (payer: Address, taker: Address): readonly EmittedLog[] => [
  transfer(usdc, payer, alice, 7n),
  transfer(dai, alice, taker, 7n),
];

test("the recipient's own trade is not a fill, for any taker and any way to call the market", () => {
  expect(judge(trade(solver, solver), {}, { to: strange, input: endsWithId })).toEqual({ amounts: [0n] });
  expect(judge(trade(fill, fill), {}, throughRouter([step(0n, strange), anything]))).toEqual({
    amounts: [0n],
  });
  expect(judge(trade(fill, fill), {}, throughProxy([anything, payAll(dai, solver, 0n)]))).toEqual({
    amounts: [0n],
  });
  // The token is the market itself.
  expect(judge(trade(solver, solver), {}, { to: usdc, input: endsWithId })).toEqual({ amounts: [0n] });
  // A named payment that may fail, or that is less than the trade's proceeds, does not add to it.
  expect(
    judge(trade(fill, fill), {}, throughRouter([anything, { ...step(7n), allowFailure: true }])),
  ).toEqual({
    amounts: [0n],
  });
  expect(judge(trade(fill, fill), {}, throughRouter([anything, step(1n)]))).toEqual({ amounts: [1n] });
});

test("does not count a claim, a distribution or a bridge withdrawal that anyone can trigger for the recipient", () => {
  const minted: Address = `0x${"00".repeat(20)}`;
  for (const payer of [strange, minted, depository]) {
    const emitted = [transfer(usdc, payer, alice, 7n)];
    expect(judge(emitted, {}, { to: strange, input: endsWithId })).toEqual({ amounts: [0n] });
    expect(judge(emitted, {}, throughRouter([anything]))).toEqual({ amounts: [0n] });
    expect(judge(emitted, {}, throughProxy([anything]))).toEqual({ amounts: [0n] });
    // Next to a payment the claim stays the recipient's own: it neither counts nor makes up for a refunded
    // part.
    const withPayment = [...emitted, transfer(usdc, fill, alice, 2n), transfer(usdc, alice, bob, 8n)];
    expect(judge(withPayment, {}, throughRouter([anything, step(2n)]))).toEqual({ amounts: [1n] });
  }
  const claimed = [solverNativeTransfer(fill, alice, 7n)];
  expect(judge(claimed, native(alice), { to: strange, input: endsWithId })).toEqual({ amounts: [0n] });
  expect(judge(claimed, native(alice), throughRouter([anything], 7n))).toEqual({ amounts: [0n] });
});

test("does not count a route signed by another account as a fill by its submitter", () => {
  const routes = ["permit2Route", "authorizationRoute"] as const;
  for (const name of routes) {
    const selector = toFunctionSelector(getAbiItem({ abi: approvalProxyAbi, name }));
    const { input = "0x" } = throughProxy([step(7n), anything]);
    const paying = { to: proxy, input: `${selector}${input.slice(10)}` as Hex };
    expect(judge([transfer(usdc, fill, alice, 7n)], {}, paying)).toEqual({ amounts: [0n] });
    expect(judge([solverNativeTransfer(fill, alice, 7n)], native(alice), paying)).toEqual({ amounts: [0n] });
    expect(judge([callExecuted(first), payment], { calls: [encodeOrderCall(first)] }, paying)).toHaveProperty(
      "refusal",
    );
  }
});

test("ignores payments named in a call of an untrusted proxy", () => {
  const emitted = [transfer(usdc, fill, alice, 7n)];
  expect(judge(emitted, {}, throughProxy([step(7n)], strange))).toEqual({ amounts: [0n] });
});

test.each([1n, 95n])("attests a payment after calls that move %s of it out and back", (moved) => {
  const receiptFields = { receipts: [{ recipient: alice, currency: usdc }] };
  const paying = throughProxy([noteBalance(alice), step(95n), anything, requireReceived(alice, 95n)]);
  const outgoing = transfer(usdc, alice, fill, moved);
  const payment95 = transfer(usdc, fill, alice, 95n);
  // Funds returned from the router itself, and through another account.
  expect(judge([payment95, outgoing, transfer(usdc, fill, alice, moved)], receiptFields, paying)).toEqual({
    amounts: [95n],
  });
  expect(judge([payment95, outgoing, transfer(usdc, strange, alice, moved)], receiptFields, paying)).toEqual({
    amounts: [95n],
  });
  // Out before the payment, from the recipient's own balance.
  const paidTwice = [outgoing, transfer(usdc, fill, alice, moved), payment95];
  expect(judge(paidTwice, receiptFields, paying)).toEqual({ amounts: [95n] });
  // As before, but without the router's check: the balance grew by the same amount.
  expect(
    judge(
      [payment95, outgoing, transfer(usdc, fill, alice, moved)],
      receiptFields,
      throughProxy([step(95n), anything]),
    ),
  ).toEqual({ amounts: [95n] });
});

test("attests what the router checked, regardless of what the recipient does when the router later pays it the native token", () => {
  const emitted = [transfer(usdc, fill, alice, 95n), transfer(usdc, alice, bob, 95n)];
  const checked = [noteBalance(alice), step(95n), requireReceived(alice, 95n)];
  expect(judge(emitted, {}, throughProxy(checked))).toEqual({ amounts: [95n] });
  expect(
    judge(emitted, {}, throughProxy([...checked, payAll(dai, solver, 0n), payNative(alice, 1n)])),
  ).toEqual({
    amounts: [95n],
  });
  // A check of a lower amount, or of the same balance twice, guarantees no more.
  expect(
    judge(emitted, {}, throughProxy([noteBalance(alice), step(95n), requireReceived(alice, 90n)])),
  ).toEqual({
    amounts: [90n],
  });
  expect(
    judge(
      [transfer(usdc, fill, alice, 95n), ...emitted],
      {},
      throughProxy([
        noteBalance(alice),
        step(95n),
        step(95n),
        requireReceived(alice, 90n),
        requireReceived(alice, 90n),
      ]),
    ),
  ).toEqual({ amounts: [95n] });
  for (const steps of [
    // Paid before the note, checked for another account, checked before further calls, or with a check that
    // may fail.
    [step(95n), noteBalance(alice), requireReceived(alice, 95n)],
    [noteBalance(bob), step(95n), requireReceived(bob, 95n)],
    [...checked, anything],
    [noteBalance(alice), step(95n), { ...requireReceived(alice, 95n), allowFailure: true }],
    [step(95n), requireReceived(alice, 95n)],
    [noteBalance(alice), requireReceived(alice, 95n), step(95n)],
  ])
    expect(judge(emitted, {}, throughProxy(steps))).toEqual({ amounts: [0n] });
});

test("attests the minimum whenever the router made the payment and the recipient's balance grew by the minimum", () => {
  const people = [alice, bob, fill, strange, depository];
  const move = fc
    .tuple(fc.constantFrom(...people), fc.constantFrom(...people), fc.bigInt({ min: 0n, max: 9n }))
    .map(([from, to, amount]) => ({ from, to, amount }));
  const moves = fc.array(move, { maxLength: 8 });
  fc.assert(
    fc.property(moves, moves, moves, fc.bigInt({ min: 1n, max: 9n }), (before, after, later, minimum) => {
      const payment = { from: fill, to: alice, amount: minimum };
      const checked = [...before, payment, ...after];
      const grown = checked.reduce(
        (sum, { from, to, amount }) => sum + (to === alice ? amount : 0n) - (from === alice ? amount : 0n),
        0n,
      );
      fc.pre(grown >= minimum);
      const emitted = (moved: readonly (typeof payment)[]) =>
        moved.map(({ from, to, amount }) => transfer(usdc, from, to, amount));
      const steps = [noteBalance(alice), anything, step(minimum), anything];
      const expected = { amounts: [minimum] };
      expect(judge(emitted(checked), {}, throughProxy(steps))).toEqual(expected);
      expect(
        judge(emitted([...checked, ...later]), {}, throughProxy([...steps, requireReceived(alice, minimum)])),
      ).toEqual(expected);
    }),
  );
});

test("attests a payment by a key other than the order's, regardless of what its calls and recipients deposit", () => {
  const formerKey = { solver: bob };
  const deposits = [
    transfer(usdc, bob, otherDepository, 1n),
    transfer(usdc, solver, depository, 1n),
    // A contract that only emits the event.
    transfer(strange, solver, depository, 1n),
    nativeDeposit(solver, 1n, orderId),
    erc20Deposit(bob, usdc, 1n, orderId),
  ];
  const unrelatedDeposit = encodeDeposit(`0x${"9d".repeat(32)}`);
  for (const deposit of deposits) {
    expect(judge([transfer(usdc, solver, alice, 7n), deposit], formerKey)).toEqual({ amounts: [7n] });
    expect(
      judge([deposit], { ...formerKey, ...native(alice) }, { to: alice, input: orderId, value: 7n }),
    ).toEqual({ amounts: [7n] });
    expect(judge([payment, deposit], formerKey, throughRouter([step(7n), unrelatedDeposit]))).toEqual({
      amounts: [7n],
    });
    expect(
      judge(
        [solverNativeTransfer(fill, alice, 7n), deposit],
        { ...formerKey, ...native(alice) },
        throughRouter([payNative(alice, 7n)], 7n),
      ),
    ).toEqual({ amounts: [7n] });
  }
});

test("a transaction whose sender deposits for the order is its fill only if the order's solver sent it", () => {
  const refused = { refusal: "transaction pays a depository, so it is a deposit" };
  const depositBalance = toRouter(
    encodeFunctionData({
      abi: routerAbi,
      functionName: "depositBalance",
      args: [depository, bob, NATIVE_CURRENCY, 0n, orderId],
    }),
  );
  for (const deposit of [encodeDeposit(orderId), depositBalance]) {
    const emitted = [payment, nativeDeposit(bob, 1n, orderId)];
    for (const paying of [throughRouter([step(7n), deposit]), throughProxy([deposit, step(7n)])]) {
      expect(judge(emitted, {}, paying)).toEqual({ amounts: [7n] });
      expect(judge(emitted, { solver: bob }, paying)).toEqual(refused);
    }
  }
  // Of a function other than the router's, only the events count.
  const foreign = { to: fill, input: endsWithId };
  const reported = [solverNativeTransfer(fill, alice, 7n), nativeDeposit(bob, 1n, orderId)];
  expect(judge(reported, native(alice), foreign)).toEqual({ amounts: [7n] });
  expect(judge(reported, { ...native(alice), solver: bob }, foreign)).toEqual(refused);
});
