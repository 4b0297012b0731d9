import { nativeCurrency } from "@causeway/families";
import { expect, test } from "vitest";
import { judgeDeposit, type BitcoinOutput } from "@causeway/families/bitcoin";
import {
  aParty,
  aTransaction,
  textOutput,
  longTextOutput,
  depository,
  orderId,
  stranger,
  otherOrderId,
  outputTo,
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

const fromUser = [outputTo(user, 100_000n)];

test("a payment to a depository with an id is that deposit, and the owner of the first input is its depositor", () => {
  expect(
    judge(fromUser, [outputTo(user, 1_000n), textOutput(orderId), outputTo(depository, 50_000n)]),
  ).toEqual({
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
  expect(
    depositOf(fromUser, [outputTo(depository, 1n), textOutput(orderId), outputTo(depository, 2n)])?.amount,
  ).toBe(3n);
});

test.each([1, 2, 4] as const)("finds the text for every encoding of its length (%i bytes)", (lengthBytes) => {
  expect(depositOf(fromUser, [outputTo(depository, 1n), longTextOutput(orderId, lengthBytes)])).toMatchObject(
    {
      depositId: orderId,
      index: "1",
    },
  );
});

test.each([
  ["nothing", []],
  ["upper case", [textOutput(`0x${"AB".repeat(32)}`)]],
  ["no 0x", [textOutput("ab".repeat(32))]],
  ["a digit more", [textOutput(`${orderId}a`)]],
  ["a digit less", [textOutput(orderId.slice(0, -1))]],
  ["something before it", [textOutput(` ${orderId}`)]],
  ["zero", [textOutput(`0x${"00".repeat(32)}`)]],
  ["sixteen zero bytes first", [textOutput(`0x${"00".repeat(16)}${"ab".repeat(16)}`)]],
  ["two ids", [textOutput(orderId), textOutput(otherOrderId)]],
  ["one id twice", [textOutput(orderId), textOutput(orderId)]],
  ["the id's bytes", [{ amount: 0n, script: `6a20${orderId.slice(2)}` }]],
  ["a broken push", [{ amount: 0n, script: "6a4c" }]],
  ["two pushes", [{ amount: 0n, script: `${textOutput(orderId).script}00` }]],
] as const)("a deposit with %s has no id and belongs to the owner of its first input", (_, texts) => {
  expect(depositOf(fromUser, [outputTo(depository, 1n), ...texts])).toMatchObject({
    depositId: undefined,
    index: "0",
    depositor: user.address,
  });
});

test("a deposit can name its depositor, after the id or in a text of its own", () => {
  const named = `${orderId}|depositor=${stranger.address}|`;
  expect(depositOf(fromUser, [outputTo(depository, 1n), textOutput(named)])).toMatchObject({
    depositor: stranger.address,
    depositId: orderId,
  });
  expect(
    depositOf(fromUser, [
      outputTo(depository, 1n),
      textOutput(orderId),
      textOutput(`|depositor=${stranger.address}|`),
    ]),
  ).toMatchObject({ depositor: stranger.address, depositId: orderId, index: "1" });
});

test.each([
  ["is not an address", ["|depositor=invalid|"]],
  ["is an address of another network", ["|depositor=bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080|"]],
  ["is in upper case", [`|depositor=${stranger.address.toUpperCase()}|`]],
  ["is one of two", [`|depositor=${stranger.address}|`, `|depositor=${recipient.address}|`]],
])("ignores a named depositor that %s", (_, texts) => {
  expect(
    depositOf(fromUser, [outputTo(depository, 1n), textOutput(orderId), ...texts.map(textOutput)])?.depositor,
  ).toBe(user.address);
});

test("a transaction that spends from a depository is not a deposit: change, sweeps, moves between depositories", () => {
  expect(
    depositOf(
      [outputTo(depository, 9n)],
      [outputTo(recipient, 5n), outputTo(depository, 4n), textOutput(orderId)],
    ),
  ).toBeUndefined();
  expect(
    depositOf([outputTo(user, 9n), outputTo(second, 9n)], [outputTo(depository, 9n), textOutput(orderId)]),
  ).toBeUndefined();
});

test("refuses a transaction that pays two depositories", () => {
  expect(
    judge(fromUser, [outputTo(depository, 1n), outputTo(second, 1n), textOutput(orderId)]),
  ).toHaveProperty("refusal");
});

test("a transaction that pays no depository, or pays it nothing, is not a deposit", () => {
  expect(depositOf(fromUser, [outputTo(stranger, 1n), textOutput(orderId)])).toBeUndefined();
  expect(depositOf(fromUser, [outputTo(depository, 0n), textOutput(orderId)])).toBeUndefined();
});

test("ignores the outputs of a coinbase transaction", () => {
  const { transaction } = aTransaction([], [outputTo(depository, 1n), textOutput(orderId)]);
  const coinbase = { ...transaction, inputs: [{ txid: "00".repeat(32), vout: 0xffffffff, sequence: 0 }] };
  expect(judgeDeposit(rules, { transaction: coinbase, spent: [] })).toEqual({ deposit: undefined });
});

test("a depositor whose script has no address must be named", () => {
  const ownerless = { script: "51", amount: 9n };
  expect(judge([ownerless], [outputTo(depository, 1n), textOutput(orderId)])).toHaveProperty("refusal");
  expect(
    depositOf(
      [ownerless],
      [outputTo(depository, 1n), textOutput(`${orderId}|depositor=${stranger.address}|`)],
    )?.depositor,
  ).toBe(stranger.address);
});
