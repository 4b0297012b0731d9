import { encodeFillContract, type Address, type Hex } from "@causeway/domain";
import { expect, test } from "vitest";
import { readReceipt } from "../evm/answers.ts";
import type { ReceiptFact } from "../evm/port.ts";
import type { PaymentQuestion } from "../evidence.ts";
import type { SolidTransaction } from "./finality/agreement.ts";
import { depositsIn } from "./deposits.ts";
import { finalityOf } from "./finality.ts";
import { paymentsIn } from "./payments.ts";
import { hashOfId, tvmAddress, tronAddress } from "./address-codec/tron-address.ts";
import recorded from "./fixtures/token-deposit.json" with { type: "json" };

const NATIVE = "T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb";
const depository: Address = `0x${"de".repeat(20)}`;
const token: Address = `0x${"70".repeat(20)}`;
const router: Address = `0x${"f1".repeat(20)}`;
const solver: Address = `0x${"50".repeat(20)}`;
const alice: Address = `0x${"a1".repeat(20)}`;
const bob: Address = `0x${"b0".repeat(20)}`;
const orderId: Hex = `0x${"1d".repeat(32)}`;
const otherId: Hex = `0x${"5e".repeat(32)}`;
const hash: Hex = `0x${"77".repeat(32)}`;
const blockHash: Hex = `0x${"bb".repeat(32)}`;
const TRANSFER: Hex = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const NATIVE_PAID: Hex = "0xd35467972d1fda5b63c735f59d3974fa51785a41a92aa3ed1b70832836f8dba6";
const word = (value: Address | bigint): string =>
  (typeof value === "bigint" ? value.toString(16) : value.slice(2)).padStart(64, "0");

type Log = Pick<ReceiptFact["logs"][number], "address" | "topics" | "data">;
const transferLog = (from: Address, to: Address, amount: bigint, contract = token): Log => ({
  address: contract,
  topics: [TRANSFER, `0x${word(from)}`, `0x${word(to)}`],
  data: `0x${word(amount)}`,
});

function solid(
  transaction: Partial<SolidTransaction["transaction"]>,
  { memo = "0x" as Hex, logs = [] as readonly Log[] } = {},
): SolidTransaction {
  return {
    receipt: {
      txHash: hash,
      status: "success",
      blockNumber: 15n,
      blockHash,
      gasUsed: 1n,
      effectiveGasPrice: 420n,
      logs: logs.map((log, logIndex) => ({ ...log, logIndex, blockNumber: 15n, blockHash, txHash: hash })),
    },
    block: { number: 15n, hash: blockHash, parentHash: hash, timestamp: 1_000n, baseFeePerGas: undefined },
    failure: undefined,
    transaction: { hash, from: solver, to: token, input: "0x", value: 0n, nonce: 0, ...transaction },
    memo,
  };
}

const question = (currency: string, fields: Partial<PaymentQuestion> = {}): PaymentQuestion => ({
  orderId,
  solver,
  deadline: 2_000,
  extraData: encodeFillContract(router),
  receipts: [{ recipient: tronAddress(alice), currency }],
  calls: [],
  ...fields,
});
const rules = { depositories: [depository], fillContracts: [router] };
const judge = (transaction: SolidTransaction, paymentQuestion = question(NATIVE)): unknown => {
  const judgment = paymentsIn(rules, transaction, paymentQuestion);
  return "amounts" in judgment ? judgment.amounts : judgment.refusal;
};

test("an address has one base58 form and 20 bytes", () => {
  expect(tvmAddress(NATIVE)).toBe(`0x${"00".repeat(20)}`);
  expect(tvmAddress(tronAddress(alice))).toBe(alice);
  expect(tronAddress(`0x${"00".repeat(20)}`)).toBe(NATIVE);
  for (const other of [alice, `41${alice.slice(2)}`, tronAddress(alice).toLowerCase()])
    expect(() => tvmAddress(other)).toThrow();
});

test("a transaction id is 64 lowercase hex digits without a prefix", () => {
  const id = "ab".repeat(32);
  expect(hashOfId(id)).toBe(`0x${id}`);
  for (const other of [`0x${id}`, id.toUpperCase(), `${id} `, id.slice(1), `0${id}`, `0X${id}`])
    expect(hashOfId(other), other).toBeUndefined();
});

test("a block is final if it is not above the newest solid one", () => {
  expect(finalityOf(10n, 10n, 3)).toEqual({ kind: "final" });
  expect(finalityOf(9n, 10n, 3)).toEqual({ kind: "final" });
  expect(finalityOf(11n, 10n, 3)).toEqual({
    kind: "notFinal",
    reason: "block 11 is not solid: needs 1 block more",
    retryAfterSeconds: 3,
  });
  expect(finalityOf(30n, 10n, 3)).toMatchObject({ retryAfterSeconds: 60 });
});

test("the recorded deposit has its depositor in the chain's format, and is identified by its position in the block", () => {
  const receipt = readReceipt(recorded.receipt, `0x${recorded.info.id}`);
  expect(receipt).toBeDefined();
  const { transaction } = solid({ to: recorded.depository as Address });
  expect(depositsIn(recorded.depository as Address, { receipt: receipt!, transaction })).toEqual([
    {
      // The index of the Transfer, which comes before the depository's event.
      index: "0",
      depositor: tronAddress(recorded.user as Address),
      currency: tronAddress(recorded.token as Address),
      amount: 1_000n,
      depositId: orderId,
    },
  ]);
});

const direct = (recipientWord: string, selector = "a9059cbb", to = token): SolidTransaction =>
  solid(
    { to, input: `0x${selector}${recipientWord}${word(7n)}${orderId.slice(2)}` },
    { logs: [transferLog(solver, depository, 7n)] },
  );

test("a direct transfer has its id after its calldata, even if the wallet encoded the address with the chain's prefix", () => {
  const deposit = { index: "0", depositor: tronAddress(solver), currency: tronAddress(token), amount: 7n };
  const prefixed = `${"0".repeat(22)}41${depository.slice(2)}`;
  for (const recipient of [word(depository), prefixed])
    expect(depositsIn(depository, direct(recipient))).toEqual([{ ...deposit, depositId: orderId }]);
  // Any other byte there is not the prefix, so the calldata does not match the Transfer.
  const dirty = `${"0".repeat(22)}42${depository.slice(2)}`;
  expect(depositsIn(depository, direct(dirty))).toEqual([{ ...deposit, depositId: undefined, isBare: true }]);
  const from = `${"0".repeat(22)}41${solver.slice(2)}`;
  expect(depositsIn(depository, direct(`${from}${prefixed}`, "23b872dd"))).toEqual([
    { ...deposit, depositId: orderId },
  ]);
});

test("only the top-level call of the token itself names an id", () => {
  expect(depositsIn(depository, direct(word(depository), "a9059cbb", router))).toMatchObject([
    { depositId: undefined },
  ]);
});

test("a plain payment names its order by its whole memo, and pays its value", () => {
  const to = { to: alice, value: 9n };
  expect(judge(solid(to, { memo: orderId }))).toEqual([9n]);
  const refusal = "transaction input does not end with the order id";
  for (const memo of [
    "0x",
    otherId,
    `${orderId}00`,
    `0x00${orderId.slice(2)}`,
    orderId.slice(0, -2),
  ] as Hex[])
    expect(judge(solid(to, { memo })), memo).toBe(refusal);
});

test("a memo with the order's id on a payment to another account pays no one", () => {
  expect(judge(solid({ to: bob, value: 9n }, { memo: orderId }))).toEqual([0n]);
});

test("a transaction names one order: its memo if that is an id, otherwise the end of its input", () => {
  const logs = [transferLog(solver, alice, 5n)];
  const call = { input: `0xa9059cbb${word(alice)}${word(5n)}${orderId.slice(2)}` as Hex };
  const paymentQuestion = question(tronAddress(token));
  expect(judge(solid(call, { logs }), paymentQuestion)).toEqual([5n]);
  // A wallet's text in the memo does not name an order.
  expect(judge(solid(call, { logs, memo: "0x68656c6c6f" }), paymentQuestion)).toEqual([5n]);
  expect(judge(solid(call, { logs, memo: otherId }), paymentQuestion)).toMatch(/does not end/);
  expect(judge(solid(call, { logs, memo: otherId }), { ...paymentQuestion, orderId: otherId })).toEqual([5n]);
});

test("counts native payments that a trusted fill contract reports, not those of another contract", () => {
  const input = `0x12345678${orderId.slice(2)}` as Hex;
  const report = (address: Address): Log => ({
    address,
    topics: [NATIVE_PAID],
    data: `0x${word(alice)}${word(6n)}`,
  });
  expect(judge(solid({ to: router, input, value: 6n }, { logs: [report(router)] }))).toEqual([6n]);
  const paymentQuestion = question(NATIVE, { extraData: encodeFillContract(bob) });
  expect(judge(solid({ to: bob, input, value: 6n }, { logs: [report(bob)] }), paymentQuestion)).toEqual([0n]);
});

/** A market or claim contract that anyone may call. */
const market: Address = `0x${"f2".repeat(20)}`;
const selector: Hex = "0x12345678";
const inputWithId: Hex = `${selector}${orderId.slice(2)}`;

test.each<[string, { readonly input: Hex }, { readonly memo: Hex }]>([
  ["after the input", { input: inputWithId }, { memo: "0x" }],
  ["in the memo", { input: selector }, { memo: orderId }],
])("the recipient's own trade is not attested as a fill, with the id %s", (_where, call, nameById) => {
  const paymentQuestion = question(tronAddress(token));
  // The caller takes the recipient's standing offer: the recipient receives the asked price, and pays with
  // another token.
  const other: Address = `0x${"71".repeat(20)}`;
  const byCaller = [transferLog(solver, alice, 7n), transferLog(alice, solver, 7n, other)];
  expect(judge(solid({ ...call, to: market }, { ...nameById, logs: byCaller }), paymentQuestion)).toEqual([
    0n,
  ]);
  const byRouter = [transferLog(router, alice, 7n), transferLog(alice, router, 7n, other)];
  expect(judge(solid({ ...call, to: router }, { ...nameById, logs: byRouter }), paymentQuestion)).toEqual([
    0n,
  ]);
  // The token is the market itself.
  expect(judge(solid({ ...call, to: token }, { ...nameById, logs: byCaller }), paymentQuestion)).toEqual([
    0n,
  ]);
});

test.each<[string, { readonly input: Hex }, { readonly memo: Hex }]>([
  ["after the input", { input: inputWithId }, { memo: "0x" }],
  ["in the memo", { input: selector }, { memo: orderId }],
])("a claim that anyone may submit is not attested as a fill, with the id %s", (_where, call, nameById) => {
  const minter: Address = `0x${"00".repeat(20)}`;
  for (const payer of [market, minter, depository]) {
    const logs = [transferLog(payer, alice, 7n)];
    for (const to of [market, router])
      expect(judge(solid({ ...call, to }, { ...nameById, logs }), question(tronAddress(token)))).toEqual([
        0n,
      ]);
  }
  // A claim of native tokens appears in no log of the fill contract.
  expect(judge(solid({ ...call, to: market }, nameById))).toEqual([0n]);
});

test("refuses a payment after the order's deadline", () => {
  const transaction = solid({ to: alice, value: 9n }, { memo: orderId });
  expect(judge(transaction, question(NATIVE, { deadline: 1_000 }))).toEqual([9n]);
  expect(judge(transaction, question(NATIVE, { deadline: 999 }))).toMatch(/after the deadline/);
});
