import { p2sh, p2wpkh } from "@scure/btc-signer";
import { pubECDSA } from "@scure/btc-signer/utils.js";
import { bitcoinPsbtId, type Hex } from "@causeway/domain";
import { expect, test } from "vitest";
import {
  aParty,
  aPsbt,
  aTransaction,
  textOutput,
  depository,
  stranger,
  outputTo,
  readTransaction,
  recipient,
  solver,
  sourceOf,
  unsigned,
} from "../../../../test/support/bitcoin-transactions.ts";
import {
  certainId,
  effectOf,
  hexOf,
  meaningOf,
  readWithdrawal,
  type BitcoinOutput,
} from "@causeway/families/bitcoin";

const second = aParty(9);
const depositories = new Set([depository.script, second.script]);
const depositoryOutputs = [outputTo(depository, 100_000n)];
const outputs = [outputTo(recipient, 60_000n), outputTo(depository, 39_000n)];

/** Bytes that look like a signature, followed by a hash type. */
function signature(hashType: number): Uint8Array {
  return Uint8Array.from([0x30, 6, 2, 1, 1, 2, 1, 1, hashType]);
}

function effect(spent: readonly BitcoinOutput[], paid: readonly BitcoinOutput[]) {
  return effectOf(depositories, aTransaction(spent, paid).transaction, spent);
}

test("reads the transaction of a payload, whose id is the hash of its text", () => {
  const payload = aPsbt(depositoryOutputs, outputs);
  const plan = readWithdrawal(payload);
  if ("refusal" in plan) throw new Error(plan.refusal);
  expect(plan.id).toBe(bitcoinPsbtId(payload.slice(2)));
  expect(plan.unsigned).toEqual(aTransaction(depositoryOutputs, outputs).transaction);
  // Extra or missing bytes make it another payload.
  for (const changed of [
    `${payload}00`,
    `${payload}0000`,
    payload.slice(0, -2),
    payload.slice(0, -40),
    `${payload}ff`,
  ])
    expect(readWithdrawal(changed as Hex)).toHaveProperty("refusal");
  expect(readWithdrawal("0x70736274ff00")).toHaveProperty("refusal");
  expect(readWithdrawal("0x1234")).toHaveProperty("refusal");
});

test("refuses a payload that spends nothing, or one output twice", () => {
  const twice = unsigned(depositoryOutputs, outputs);
  twice.addInput({ txid: sourceOf(outputTo(depository, 100_000n), 0).txid, index: 0 });
  for (const tx of [twice, unsigned([], outputs)])
    expect(readWithdrawal(`0x${hexOf(tx.toPSBT())}`)).toHaveProperty("refusal");
});

test.each([
  ["asks for signatures of some inputs only", { sighashType: 0x81 }],
  ["asks for signatures of one output only", { sighashType: 3 }],
  ["is signed for some inputs only", { partialSig: [[pubECDSA(depository.key), signature(0x81)]] }],
  ["is signed for no outputs", { partialSig: [[pubECDSA(depository.key), signature(2)]] }],
  ["is signed by a taproot key for some inputs only", { tapKeySig: new Uint8Array(65).fill(0x81) }],
] as const)(
  "a payload that %s is refused: it could be carried out by a transaction that is not its own",
  (_, fields) => {
    const tx = unsigned(depositoryOutputs, outputs);
    tx.updateInput(0, fields as never, true);
    expect(readWithdrawal(`0x${hexOf(tx.toPSBT())}`)).toEqual({
      refusal: "withdrawal signatures do not cover the whole transaction",
    });
  },
);

test("accepts a payload whose signatures, or requested signatures, cover everything", () => {
  for (const fields of [
    { sighashType: 1 },
    { partialSig: [[pubECDSA(depository.key), signature(1)]] },
    { tapKeySig: new Uint8Array(64).fill(7) },
    { tapKeySig: Uint8Array.from([...new Uint8Array(64).fill(7), 1]) },
  ]) {
    const tx = unsigned(depositoryOutputs, outputs);
    tx.updateInput(0, fields as never, true);
    expect(readWithdrawal(`0x${hexOf(tx.toPSBT())}`)).toHaveProperty("unsigned");
  }
});

test("the depository's cost is its inputs minus its change: the payment and the fee", () => {
  expect(effect(depositoryOutputs, outputs)).toEqual({
    depository: depository.script,
    recipient: recipient.address,
    amount: 61_000n,
  });
});

test("if another account pays the fee and gets its change back, the depository's cost is only the payment", () => {
  const paid = [
    ...outputs.slice(0, 1),
    outputTo(depository, 40_000n),
    outputTo(solver, 4_000n),
    textOutput("x"),
  ];
  expect(effect([...depositoryOutputs, outputTo(solver, 5_000n)], paid)).toMatchObject({ amount: 60_000n });
});

test.each([
  ["spends nothing of a depository", [outputTo(solver, 9n)], [outputTo(recipient, 1n)]],
  ["spends from two depositories", [...depositoryOutputs, outputTo(second, 9n)], outputs],
  ["pays only depositories", depositoryOutputs, [outputTo(depository, 50_000n), outputTo(second, 1_000n)]],
  ["pays somebody else too", depositoryOutputs, [...outputs, outputTo(stranger, 500n)]],
  [
    "gives others more than they put in",
    [...depositoryOutputs, outputTo(solver, 5_000n)],
    [...outputs, outputTo(solver, 5_001n)],
  ],
  [
    "takes nothing from the depository",
    [...depositoryOutputs, outputTo(solver, 9_000n)],
    [outputTo(recipient, 1n), outputTo(depository, 100_000n)],
  ],
  ["pays no address first", depositoryOutputs, [{ script: "51", amount: 1n }, ...outputs]],
])("a payload that %s is refused", (_, spent, paid) => {
  expect(effect(spent, paid)).toHaveProperty("refusal");
});

test("a withdrawal is executed by its own transaction, regardless of the signatures", () => {
  const plan = aTransaction(depositoryOutputs, outputs).transaction;
  const signed = unsigned(depositoryOutputs, outputs);
  signed.updateInput(0, { finalScriptSig: new Uint8Array([0x51]) }, true);
  const signedTransaction = { ...readTransaction(signed), txid: "aa".repeat(32) };
  expect(meaningOf(plan, signedTransaction)).toBe("executed");
});

test.each([
  ["another amount", [outputTo(recipient, 60_001n), outputTo(depository, 39_000n)]],
  ["another recipient", [outputTo(stranger, 60_000n), outputTo(depository, 39_000n)]],
  ["another order of outputs", outputs.toReversed()],
  ["a further output", [...outputs, textOutput("x")]],
])("a withdrawal is expired if its input was spent with %s", (_, paid) => {
  expect(
    meaningOf(
      aTransaction(depositoryOutputs, outputs).transaction,
      aTransaction(depositoryOutputs, paid).transaction,
    ),
  ).toBe("expired");
});

test("a withdrawal is expired if another transaction spent one of its inputs; other transactions prove nothing", () => {
  const plan = aTransaction([...depositoryOutputs, outputTo(solver, 5n)], outputs).transaction;
  expect(meaningOf(plan, aTransaction(depositoryOutputs, [outputTo(stranger, 1n)]).transaction)).toBe(
    "expired",
  );
  expect(meaningOf(plan, aTransaction([outputTo(stranger, 7n)], outputs).transaction)).toBeUndefined();
});

test("a transaction's id is known before signing only if signatures do not change it", () => {
  const { transaction } = aTransaction(depositoryOutputs, outputs);
  expect(certainId(transaction, depositoryOutputs)).toBe(transaction.txid);
  const nested = { script: hexOf(p2sh(p2wpkh(pubECDSA(stranger.key))).script), amount: 1n };
  expect(certainId(transaction, [...depositoryOutputs, nested])).toBeUndefined();
});
