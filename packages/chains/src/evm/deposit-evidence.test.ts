import fc from "fast-check";
import { encodeAbiParameters, encodeFunctionData, erc20Abi } from "viem";
import { expect, test } from "vitest";
import { NATIVE_CURRENCY, type Address, type Hex } from "@causeway/domain";
import {
  alice,
  aTransaction,
  bob,
  dai,
  depository,
  erc20Deposit,
  nativeDeposit,
  orderId,
  receiptOf,
  solver,
  transfer,
  usdc,
  type EmittedLog,
} from "../../test/event-logs.ts";
import type { DepositEvidence } from "@causeway/families";
import {
  addressTopic,
  CALL_EXECUTED_TOPIC,
  depositEvidenceIn,
  needsCalldata,
  type TransactionFact,
} from "@causeway/families/evm";

// Numbers in test names refer to the cases that an attestation must withstand.

const rules = { depository, isZksyncStack: false };
const otherId: Hex = `0x${"2e".repeat(32)}`;
const lookalike: Address = `0x${"d1".repeat(20)}`;
const zksyncBaseToken: Address = "0x000000000000000000000000000000000000800a";
const eip7708 = ["f".repeat(39) + "e", "e".repeat(40), "0".repeat(40)].map(
  (digits): Address => `0x${digits}`,
);
/** The native token mirror of Metis and other early rollups. */
const ovmBaseToken: Address = "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0000";
const mirrors = [...eip7708, ovmBaseToken];

function read(emitted: readonly EmittedLog[], transaction?: TransactionFact): DepositEvidence[] {
  return depositEvidenceIn(rules, receiptOf(...emitted), transaction);
}

function amountsOf(deposits: readonly DepositEvidence[]): string[] {
  return deposits.map(({ currency, amount, depositId }) => `${amount} ${currency} ${depositId ?? "-"}`);
}

test("identifies a deposit by the block-wide index of its log, in decimal", () => {
  expect(read([transfer(dai, alice, bob, 1n), nativeDeposit(alice, 5n, orderId)])).toEqual([
    { index: "41", depositor: alice, currency: NATIVE_CURRENCY, amount: 5n, depositId: orderId },
  ]);
});

test("identifies an ERC-20 deposit by its Transfer's log index", () => {
  const emitted = [transfer(usdc, bob, depository, 5n), erc20Deposit(alice, usdc, 5n, orderId)];
  expect(read(emitted)).toEqual([
    { index: "40", depositor: alice, currency: usdc, amount: 5n, depositId: orderId },
  ]);
});

test("only a direct transfer without an order id is bare", () => {
  const emitted = [
    transfer(dai, bob, depository, 1n),
    transfer(usdc, bob, depository, 5n),
    erc20Deposit(alice, usdc, 5n, `0x${"00".repeat(32)}`),
    nativeDeposit(alice, 5n, orderId),
  ];
  expect(read(emitted).map(({ currency, isBare }) => [currency, isBare])).toEqual([
    [dai, true],
    [usdc, undefined],
    [NATIVE_CURRENCY, undefined],
  ]);
  const input: Hex = `${direct}${orderId.slice(2)}`;
  expect(read(moved, aTransaction({ from: alice, input }))[0]?.isBare).toBeUndefined();
});

test("ignores events of a look-alike contract", () => {
  expect(read([nativeDeposit(alice, 5n, orderId, lookalike)])).toEqual([]);
  expect(read([erc20Deposit(alice, usdc, 5n, orderId, lookalike)])).toEqual([]);
});

test("a token that lies about a transfer credits only itself", () => {
  const liar: Address = `0x${"66".repeat(20)}`;
  expect(amountsOf(read([transfer(liar, alice, depository, 10n ** 30n)]))).toEqual([
    `${10n ** 30n} ${liar} -`,
  ]);
  // Its Transfer does not prove a deposit of a token with a value.
  expect(
    amountsOf(read([transfer(liar, alice, depository, 9n), erc20Deposit(alice, usdc, 9n, orderId)])),
  ).toEqual([`9 ${liar} -`]);
});

test("credits nothing for an Erc20Deposit without a Transfer, and at most what moved for one above its Transfer", () => {
  expect(read([erc20Deposit(alice, usdc, 100n, orderId)])).toEqual([]);
  const emitted = [transfer(usdc, alice, depository, 99n), erc20Deposit(alice, usdc, 100n, orderId)];
  expect(amountsOf(read(emitted))).toEqual([`99 ${usdc} -`]);
});

test("credits one Transfer behind two equal events once, and two Transfers behind one event as two deposits", () => {
  const event = erc20Deposit(alice, usdc, 5n, orderId);
  const transferred = transfer(usdc, alice, depository, 5n);
  expect(amountsOf(read([transferred, event, event]))).toEqual([`5 ${usdc} ${orderId}`]);
  expect(amountsOf(read([transferred, transferred, event]))).toEqual([`5 ${usdc} -`, `5 ${usdc} ${orderId}`]);
});

test("attributes a deposit through a forwarder to the depositor that the event names, not to the sender", () => {
  const emitted = [transfer(usdc, bob, depository, 5n), erc20Deposit(alice, usdc, 5n, orderId)];
  expect(read(emitted, aTransaction({ from: solver }))).toMatchObject([{ depositor: alice }]);
});

const direct = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [depository, 5n] });
const moved = [transfer(usdc, alice, depository, 5n)];

test("a direct transfer has its id directly after its calldata", () => {
  const input: Hex = `${direct}${orderId.slice(2)}`;
  expect(needsCalldata(rules, receiptOf(...moved))).toBe(true);
  expect(amountsOf(read(moved, aTransaction({ from: alice, input })))).toEqual([`5 ${usdc} ${orderId}`]);
});

test.each<[string, Partial<TransactionFact>]>([
  ["in calldata of another contract", { to: bob, input: `${direct}${orderId.slice(2)}` }],
  ["in calldata of another token", { to: dai, input: `${direct}${orderId.slice(2)}` }],
  ["deeper inside other data", { input: `0x12345678${direct.slice(2)}${orderId.slice(2)}` }],
  ["half a byte off", { input: `${direct}0${orderId.slice(2)}0` }],
  ["half a byte off from the beginning", { input: `0x0${direct.slice(2)}${orderId.slice(2)}0` }],
  [
    "behind a transfer to somebody else",
    {
      input: `${encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [bob, 5n] })}${orderId.slice(2)}`,
    },
  ],
  [
    "behind a transfer of another amount",
    {
      input: `${encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [depository, 6n] })}${orderId.slice(2)}`,
    },
  ],
])("finds no deposit id %s", (_where, fields) => {
  const deposits = read(moved, aTransaction({ from: alice, ...fields }));
  expect(deposits.every(({ depositId }) => depositId === undefined || depositId !== orderId)).toBe(true);
  expect(deposits).toHaveLength(1);
});

test("does not read 32 zero bytes, or 16 leading zero bytes after calldata, as an id", () => {
  expect(read([nativeDeposit(alice, 5n, `0x${"00".repeat(32)}`)])).toMatchObject([{ depositId: undefined }]);
  const padded = aTransaction({ from: alice, input: `${direct}${"00".repeat(16)}${"1d".repeat(16)}` });
  expect(read(moved, padded)).toMatchObject([{ depositId: undefined }]);
});

test("does not count Transfers that mirror the native token as deposits, on the chains that emit them", () => {
  const emitted = [
    transfer(zksyncBaseToken, alice, depository, 5n),
    ...mirrors.map((mirror) => transfer(mirror, alice, depository, 5n)),
    nativeDeposit(alice, 5n, orderId),
  ];
  const zksync = { depository, isZksyncStack: true };
  expect(amountsOf(depositEvidenceIn(zksync, receiptOf(...emitted), undefined))).toEqual([
    `5 ${NATIVE_CURRENCY} ${orderId}`,
  ]);
  for (const mirror of mirrors) expect(read([transfer(mirror, alice, depository, 5n)])).toEqual([]);
});

test("cases 11 and 12: native tokens without the depository's event are not a deposit, regardless of the input", () => {
  expect(read([], aTransaction({ to: depository, value: 5n, input: orderId }))).toEqual([]);
});

const report = (token: Address, to: Address, amount: bigint, emitter = depository): EmittedLog => {
  const tuple = {
    type: "tuple",
    components: [{ type: "address" }, { type: "bytes" }, { type: "uint256" }, { type: "bool" }],
  } as const;
  const calldata = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, amount] });
  const data = encodeAbiParameters([{ type: "bytes32" }, tuple], [otherId, [token, calldata, 0n, false]]);
  return { address: emitter, topics: [CALL_EXECUTED_TOPIC], data };
};

test("credits what remained of a token that charges the receiver, reducing direct transfers first", () => {
  const fee = transfer(usdc, depository, bob, 30n);
  expect(amountsOf(read([transfer(usdc, alice, depository, 100n), fee]))).toEqual([`70 ${usdc} -`]);
  const measured = [transfer(usdc, alice, depository, 100n), fee, erc20Deposit(alice, usdc, 70n, orderId)];
  expect(amountsOf(read(measured))).toEqual([`70 ${usdc} ${orderId}`]);
  const withDirectTransfer = [...measured, transfer(usdc, bob, depository, 20n)];
  expect(amountsOf(read(withDirectTransfer))).toEqual([`70 ${usdc} ${orderId}`, `20 ${usdc} -`]);
  expect(amountsOf(read([...withDirectTransfer, fee]))).toEqual([`60 ${usdc} ${orderId}`]);
  expect(amountsOf(read([...withDirectTransfer, transfer(dai, depository, bob, 30n)]))).toHaveLength(2);
});

test("a withdrawal that the depository reports does not reduce a deposit in the same transaction", () => {
  const [arrived, sent] = [transfer(usdc, alice, depository, 100n), transfer(usdc, depository, bob, 30n)];
  const withdrawal = [sent, report(usdc, bob, 30n)];
  expect(amountsOf(read([arrived, ...withdrawal]))).toEqual([`100 ${usdc} -`]);
  expect(amountsOf(read([...withdrawal, arrived]))).toEqual([`100 ${usdc} -`]);
  for (const unexplained of [
    [sent, ...withdrawal],
    [sent, report(usdc, bob, 29n)],
    [sent, report(usdc, alice, 30n)],
    [sent, report(dai, bob, 30n)],
    [sent, report(usdc, bob, 30n, lookalike)],
    [report(usdc, bob, 30n), sent],
    [sent, report(dai, bob, 30n), report(usdc, bob, 30n)],
  ])
    expect(amountsOf(read([arrived, ...unexplained]))).toEqual([`70 ${usdc} -`]);
});

test("does not count what the depository sends to itself or to others as a deposit", () => {
  expect(read([transfer(usdc, depository, depository, 5n), transfer(usdc, depository, alice, 5n)])).toEqual(
    [],
  );
});

test("keeps deposits with equal ids of two users, or of two currencies, separate", () => {
  const emitted = [
    nativeDeposit(alice, 5n, orderId),
    nativeDeposit(bob, 5n, orderId),
    transfer(usdc, alice, depository, 5n),
    erc20Deposit(alice, usdc, 5n, orderId),
  ];
  expect(read(emitted).map(({ index, depositor, currency }) => [index, depositor, currency])).toEqual([
    ["40", alice, NATIVE_CURRENCY],
    ["41", bob, NATIVE_CURRENCY],
    ["42", alice, usdc],
  ]);
});

test("reads the transaction only if a direct transfer may carry an id", () => {
  expect(needsCalldata(rules, receiptOf(nativeDeposit(alice, 5n, orderId)))).toBe(false);
  expect(needsCalldata(rules, receiptOf(...moved, erc20Deposit(alice, usdc, 5n, orderId)))).toBe(false);
  expect(needsCalldata(rules, receiptOf())).toBe(false);
});

/** Any mixture of honest and dishonest events around one depository. */
const anyEvent: fc.Arbitrary<EmittedLog> = fc
  .record({
    kind: fc.constantFrom("in", "out", "event", "native", "self", "fee"),
    token: fc.constantFrom(usdc, dai, zksyncBaseToken),
    who: fc.constantFrom(alice, bob, solver),
    emitter: fc.constantFrom(depository, lookalike),
    amount: fc.bigInt({ min: 0n, max: 4n }),
    id: fc.constantFrom(orderId, otherId),
  })
  .map(({ kind, token, who, emitter, amount, id }) => {
    if (kind === "in") return transfer(token, who, depository, amount);
    if (kind === "out") return transfer(token, who, bob, amount);
    if (kind === "fee") return transfer(token, depository, who, amount);
    if (kind === "self") return transfer(token, depository, depository, amount);
    if (kind === "native") return nativeDeposit(who, amount, id, emitter);
    return erc20Deposit(who, token, amount, id, emitter);
  });

test("invariant a: never credits more of a token than the net inflow of its Transfers, regardless of other logs", () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 12 }), fc.boolean(), (emitted, isZksyncStack) => {
      const deposits = depositEvidenceIn({ depository, isZksyncStack }, receiptOf(...emitted), undefined);
      for (const token of [usdc, dai, zksyncBaseToken, lookalike]) {
        const credited = deposits.filter(({ currency }) => currency === token);
        const sum = credited.reduce((total, { amount }) => total + amount, 0n);
        const inflow = receiptOf(...emitted)
          .logs.filter((log) => log.address === token && log.topics[2] === addressTopic(depository))
          .filter((log) => log.topics[1] !== addressTopic(depository))
          .reduce((total, log) => total + BigInt(log.data), 0n);
        const outflow = receiptOf(...emitted)
          .logs.filter((log) => log.address === token && log.topics[1] === addressTopic(depository))
          .filter((log) => log.topics[2] !== addressTopic(depository))
          .reduce((total, log) => total + BigInt(log.data), 0n);
        expect(sum <= (inflow > outflow ? inflow - outflow : 0n)).toBe(true);
      }
      expect(new Set(deposits.map(({ index }) => index)).size).toBe(deposits.length);
    }),
  );
});
