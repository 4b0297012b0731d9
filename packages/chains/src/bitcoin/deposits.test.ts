import { nativeCurrency } from "@causeway/families";
import { expect, test } from "vitest";
import { judgeDeposit, type BitcoinOutput } from "@causeway/families/bitcoin";
import {
  aParty,
  aTransaction,
  carry,
  carryLong,
  depository,
  orderId,
  other,
  otherId,
  pay,
  recipient,
  user,
} from "../../../../test/support/bitcoin-transactions.ts";

const second = aParty(9);
const rules = { depositories: new Set([depository.script, second.script]), network: "mainnet" } as const;

function judge(spent: readonly BitcoinOutput[], outputs: readonly BitcoinOutput[]) {
  return judgeDeposit(rules, aTransaction(spent, outputs));
}

function depositOf(spent: readonly BitcoinOutput[], outputs: readonly BitcoinOutput[]) {
  const judgment = judge(spent, outputs);
  if ("refusal" in judgment) throw new Error(judgment.refusal);
  return judgment.deposit;
}

const fromUser = [pay(user, 100_000n)];

test("a payment to a depository with an id is that deposit, and the owner of the first input is its depositor", () => {
  expect(judge(fromUser, [pay(user, 1_000n), carry(orderId), pay(depository, 50_000n)])).toEqual({
    script: depository.script,
    deposit: {
      index: "1",
      depositor: user.address,
      currency: nativeCurrency("bitcoin-vm"),
      amount: 50_000n,
      depositId: orderId,
    },
  });
});

test("several outputs to one depository are one deposit of their total", () => {
  expect(depositOf(fromUser, [pay(depository, 1n), carry(orderId), pay(depository, 2n)])?.amount).toBe(3n);
});

test.each([1, 2, 4] as const)("finds the text for every encoding of its length (%i bytes)", (lengthBytes) => {
  expect(depositOf(fromUser, [pay(depository, 1n), carryLong(orderId, lengthBytes)])).toMatchObject({
    depositId: orderId,
    index: "1",
  });
});

test.each([
  ["nothing", []],
  ["upper case", [carry(`0x${"AB".repeat(32)}`)]],
  ["no 0x", [carry("ab".repeat(32))]],
  ["a digit more", [carry(`${orderId}a`)]],
  ["a digit less", [carry(orderId.slice(0, -1))]],
  ["something before it", [carry(` ${orderId}`)]],
  ["zero", [carry(`0x${"00".repeat(32)}`)]],
  ["sixteen zero bytes first", [carry(`0x${"00".repeat(16)}${"ab".repeat(16)}`)]],
  ["two ids", [carry(orderId), carry(otherId)]],
  ["one id twice", [carry(orderId), carry(orderId)]],
  ["the id's bytes", [{ amount: 0n, script: `6a20${orderId.slice(2)}` }]],
  ["a broken push", [{ amount: 0n, script: "6a4c" }]],
  ["two pushes", [{ amount: 0n, script: `${carry(orderId).script}00` }]],
] as const)("a deposit with %s has no id and belongs to the owner of its first input", (_, texts) => {
  expect(depositOf(fromUser, [pay(depository, 1n), ...texts])).toMatchObject({
    depositId: undefined,
    index: "0",
    depositor: user.address,
  });
});

test("a deposit can name its depositor, after the id or in a text of its own", () => {
  const named = `${orderId}|depositor=${other.address}|`;
  expect(depositOf(fromUser, [pay(depository, 1n), carry(named)])).toMatchObject({
    depositor: other.address,
    depositId: orderId,
  });
  expect(
    depositOf(fromUser, [pay(depository, 1n), carry(orderId), carry(`|depositor=${other.address}|`)]),
  ).toMatchObject({ depositor: other.address, depositId: orderId, index: "1" });
});

test.each([
  ["is not an address", ["|depositor=invalid|"]],
  ["is an address of another network", ["|depositor=bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080|"]],
  ["is in upper case", [`|depositor=${other.address.toUpperCase()}|`]],
  ["is one of two", [`|depositor=${other.address}|`, `|depositor=${recipient.address}|`]],
])("ignores a named depositor that %s", (_, texts) => {
  expect(depositOf(fromUser, [pay(depository, 1n), carry(orderId), ...texts.map(carry)])?.depositor).toBe(
    user.address,
  );
});

test("a transaction that spends from a depository is not a deposit: change, sweeps, moves between depositories", () => {
  expect(
    depositOf([pay(depository, 9n)], [pay(recipient, 5n), pay(depository, 4n), carry(orderId)]),
  ).toBeUndefined();
  expect(depositOf([pay(user, 9n), pay(second, 9n)], [pay(depository, 9n), carry(orderId)])).toBeUndefined();
});

test("refuses a transaction that pays two depositories", () => {
  expect(judge(fromUser, [pay(depository, 1n), pay(second, 1n), carry(orderId)])).toHaveProperty("refusal");
});

test("a transaction that pays no depository, or pays it nothing, is not a deposit", () => {
  expect(depositOf(fromUser, [pay(other, 1n), carry(orderId)])).toBeUndefined();
  expect(depositOf(fromUser, [pay(depository, 0n), carry(orderId)])).toBeUndefined();
});

test("ignores the outputs of a coinbase transaction", () => {
  const { transaction } = aTransaction([], [pay(depository, 1n), carry(orderId)]);
  const coinbase = { ...transaction, inputs: [{ txid: "00".repeat(32), vout: 0xffffffff, sequence: 0 }] };
  expect(judgeDeposit(rules, { transaction: coinbase, spent: [] })).toEqual({ deposit: undefined });
});

test("a depositor whose script has no address must be named", () => {
  const ownerless = { script: "51", amount: 9n };
  expect(judge([ownerless], [pay(depository, 1n), carry(orderId)])).toHaveProperty("refusal");
  expect(
    depositOf([ownerless], [pay(depository, 1n), carry(`${orderId}|depositor=${other.address}|`)])?.depositor,
  ).toBe(other.address);
});
