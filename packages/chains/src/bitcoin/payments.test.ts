import { p2pkh, p2tr, Script } from "@scure/btc-signer";
import { pubECDSA, pubSchnorr } from "@scure/btc-signer/utils.js";
import { nativeCurrency } from "@causeway/families";
import { expect, test } from "vitest";
import {
  aTransaction,
  textOutput,
  depository,
  orderId,
  stranger,
  otherOrderId,
  outputTo,
  recipient,
  solver,
  unsigned,
} from "../../../../test/support/bitcoin-transactions.ts";
import {
  bytesIn,
  hexOf,
  judgePayments,
  readRawTransaction,
  signsAllOutputs,
  type BitcoinOutput,
} from "@causeway/families/bitcoin";

const currency = nativeCurrency("bitcoin-vm");
const rules = { depositories: new Set([depository.script]) };
const fromSolver = [outputTo(solver, 100_000n)];
const toRecipient = { recipient: recipient.address, currency };

function judge(
  spent: readonly BitcoinOutput[],
  outputs: readonly BitcoinOutput[],
  { receipts = [toRecipient], timestamp = 1_000n, calls = [] as `0x${string}`[] } = {},
) {
  const question = {
    orderId,
    solver: `0x${"50".repeat(20)}`,
    deadline: 1_000,
    extraData: "0x",
    receipts,
    calls,
  } as const;
  return judgePayments(rules, { ...aTransaction(spent, outputs), timestamp }, question);
}

test("adds up the outputs to the recipient if the transaction carries the order id", () => {
  const outputs = [
    outputTo(recipient, 7n),
    textOutput(orderId),
    outputTo(solver, 5n),
    outputTo(recipient, 3n),
    textOutput("thanks"),
  ];
  expect(judge(fromSolver, outputs)).toEqual({ amounts: [10n] });
});

test("does not count a transaction with inputs of the recipient or of a third party", () => {
  const outputs = [outputTo(recipient, 10n), textOutput(orderId)];
  expect(judge([outputTo(recipient, 40n)], outputs)).toHaveProperty("refusal");
  expect(judge([...fromSolver, outputTo(recipient, 4n)], outputs)).toHaveProperty("refusal");
  expect(judge([...fromSolver, outputTo(stranger, 4n)], outputs)).toHaveProperty("refusal");
  expect(judge([...fromSolver, ...fromSolver], outputs)).toEqual({ amounts: [10n] });
});

const ALL = 0x01;
const SINGLE_ANYONE_CAN_PAY = 0x83;

/** A payment from a key, signed with the given hash type. */
function judgeSigned(spent: readonly BitcoinOutput[], sighash: number, key: Uint8Array) {
  const tx = unsigned(spent, [outputTo(recipient, 10n), textOutput(orderId)]);
  spent.forEach(({ script, amount }, index) => {
    const witnessUtxo = { script: bytesIn(script) ?? new Uint8Array(), amount };
    tx.updateInput(index, { witnessUtxo, sighashType: sighash, ...taprootKey(script, key) });
  });
  tx.sign(key, [sighash]);
  tx.finalize();
  const transaction = readRawTransaction(tx.extract());
  if (transaction === undefined) throw new Error("no transaction");
  const question = {
    orderId,
    solver: `0x${"50".repeat(20)}`,
    deadline: 1_000,
    extraData: "0x",
    receipts: [toRecipient],
    calls: [],
  } as const;
  return judgePayments(rules, { transaction, spent, timestamp: 1_000n }, question);
}

function taprootKey(script: string, key: Uint8Array) {
  return script.startsWith("5120") ? { tapInternalKey: pubSchnorr(key) } : {};
}

test("does not count a recipient's SIGHASH_SINGLE|ANYONECANPAY sale as a fill", () => {
  // The sold output is at one address of the seller, and the price goes to another.
  const { key } = stranger;
  const taproot = hexOf(p2tr(pubSchnorr(key)).script);
  const legacy = hexOf(p2pkh(pubECDSA(key)).script);
  for (const script of [stranger.script, taproot]) {
    const spent = [{ script, amount: 100_000n }];
    expect(judgeSigned(spent, ALL, key)).toEqual({ amounts: [10n] });
    for (const type of [SINGLE_ANYONE_CAN_PAY, 0x03, 0x02, 0x82])
      expect(judgeSigned(spent, type, key)).toEqual({
        refusal: "a signature does not cover all outputs, so others could have added the order id",
      });
  }
  expect(judgeSigned([{ script: taproot, amount: 100_000n }], 0x00, key)).toEqual({ amounts: [10n] });
  // Signatures of legacy addresses are pushed by the input's script.
  const der = Uint8Array.from([0x30, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01]);
  for (const [type, signsAll] of [
    [ALL, true],
    [SINGLE_ANYONE_CAN_PAY, false],
  ] as const) {
    const scriptSig = hexOf(Script.encode([Uint8Array.from([...der, type]), pubECDSA(key, false)]));
    expect(signsAllOutputs({ scriptSig, witness: [] }, legacy)).toBe(signsAll);
  }
});

test("does not read the script and control block of a taproot witness as signatures", () => {
  const taproot = `5120${"11".repeat(32)}`;
  const [script, control] = [new Uint8Array(65).fill(0x51), new Uint8Array(65).fill(0xc0)];
  const signature = (type: number) => Uint8Array.from([...new Uint8Array(64).fill(7), type]);
  const annex = Uint8Array.of(0x50, 1);
  const signsAll = (...witness: Uint8Array[]) => signsAllOutputs({ scriptSig: "", witness }, taproot);
  expect(signsAll(signature(ALL), script, control)).toBe(true);
  expect(signsAll(signature(ALL), script, control, annex)).toBe(true);
  expect(signsAll(signature(SINGLE_ANYONE_CAN_PAY), script, control)).toBe(false);
  expect(signsAll(signature(SINGLE_ANYONE_CAN_PAY), script, control, annex)).toBe(false);
});

test.each([
  ["no id", []],
  ["another order's id", [textOutput(otherOrderId)]],
  ["two orders' ids", [textOutput(orderId), textOutput(otherOrderId)]],
  ["the id twice", [textOutput(orderId), textOutput(orderId)]],
  [
    "the id and a deposit's",
    [textOutput(orderId), textOutput(`${otherOrderId}|depositor=${stranger.address}|`)],
  ],
  ["the id and more", [textOutput(`${orderId}|`)]],
  ["the id in upper case", [textOutput(`0x${"AB".repeat(32)}`)]],
])("a payment with %s pays no order", (_, texts) => {
  expect(judge(fromSolver, [outputTo(recipient, 1n), ...texts])).toHaveProperty("refusal");
});

test("accepts a payment after the deadline within the tolerance for header times, and not after that", () => {
  const outputs = [outputTo(recipient, 1n), textOutput(orderId)];
  expect(judge(fromSolver, outputs, { timestamp: 1_000n })).toEqual({ amounts: [1n] });
  // Miners may set header times up to two hours in the future.
  expect(judge(fromSolver, outputs, { timestamp: 8_200n })).toEqual({ amounts: [1n] });
  expect(judge(fromSolver, outputs, { timestamp: 8_201n })).toHaveProperty("refusal");
});

test("refuses payments from and to a depository", () => {
  expect(
    judge([...fromSolver, outputTo(depository, 9n)], [outputTo(recipient, 1n), textOutput(orderId)]),
  ).toHaveProperty("refusal");
  expect(
    judge(fromSolver, [outputTo(depository, 1n), textOutput(orderId)], {
      receipts: [{ ...toRecipient, recipient: depository.address }],
    }),
  ).toHaveProperty("refusal");
});

test("does not count a deposit with the order id as a payment, regardless of its change", () => {
  // The user has outputs at two addresses; the change of their deposit goes to the recipient of the refund.
  const deposit = [outputTo(depository, 10_000n), textOutput(orderId), outputTo(recipient, 90_000n)];
  expect(judge([outputTo(stranger, 100_000n)], deposit)).toEqual({
    refusal: "transaction pays a depository, so it is a deposit",
  });
});

test("refuses an order with calls", () => {
  expect(
    judge(fromSolver, [outputTo(recipient, 1n), textOutput(orderId)], { calls: ["0x00"] }),
  ).toHaveProperty("refusal");
});

test("counts only the native token, and each output for one recipient only", () => {
  const receipts = [
    toRecipient,
    { recipient: stranger.address, currency },
    { recipient: recipient.address, currency: stranger.address },
  ];
  expect(judge(fromSolver, [outputTo(recipient, 5n), textOutput(orderId)], { receipts })).toEqual({
    amounts: [5n, 0n, 0n],
  });
  expect(() => judge(fromSolver, [textOutput(orderId)], { receipts: [toRecipient, toRecipient] })).toThrow(
    RangeError,
  );
});
