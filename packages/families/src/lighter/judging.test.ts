import type { Hex32 } from "@causeway/domain";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { PaymentQuestion } from "../evidence.ts";
import type { RecordedTransfer } from "./answers.ts";
import { arrivalCurrency } from "./answers/currency.ts";
import { depositsIn } from "./deposits.ts";
import { judgePayments } from "./payments.ts";

const ID: Hex32 = `0x${"ab".repeat(32)}`;
const OURS = ["460491", "460492"] as const;
const QUEUED_MS = 1_763_298_993_375n;

const aTransfer = (changes: Partial<RecordedTransfer> = {}): RecordedTransfer => ({
  fromAccountIndex: 123_456n,
  apiKeyIndex: 4n,
  toAccountIndex: 460_491n,
  assetIndex: 3n,
  fromRouteType: 0n,
  toRouteType: 0n,
  amount: 5_000_000n,
  usdcFee: 3_000_000n,
  memo: ID,
  nonce: 1n,
  ...changes,
});
const deposited = (changes: Partial<RecordedTransfer> = {}) =>
  depositsIn(OURS, { transfer: aTransfer(changes), queuedAtMs: QUEUED_MS });

test("a transfer to a depository is one deposit by its sender, without the fee", () => {
  expect(deposited()).toEqual({
    depository: "460491",
    timestamp: 1_763_298_993n,
    deposits: [{ index: "0", depositor: "123456", currency: "0", amount: 5_000_000n, depositId: ID }],
  });
});

test("a transfer to an additional depository is a deposit to that one", () => {
  expect(deposited({ toAccountIndex: 460_492n })).toMatchObject({
    depository: "460492",
    deposits: [{ depositId: ID }],
  });
});

test("USDC in the perpetuals balance is currency 0; everything else is its asset's index, regardless of the balance", () => {
  const currencies = [
    [3n, 0n],
    [3n, 1n],
    [1n, 1n],
    [1n, 0n],
    [62n, 1n],
  ].map(([assetIndex = 0n, toRouteType = 0n]) => arrivalCurrency({ assetIndex, toRouteType }));
  expect(currencies).toEqual(["0", "3", "1", "1", "62"]);
  expect(deposited({ assetIndex: 1n, toRouteType: 1n, fromRouteType: 0n }).deposits[0]?.currency).toBe("1");
});

test("transfers between depositories or to others, and other transactions, are not deposits", () => {
  const none: Partial<RecordedTransfer>[] = [
    { toAccountIndex: 7n },
    { fromAccountIndex: 460_491n },
    { fromAccountIndex: 460_492n },
    { fromAccountIndex: 460_491n, toAccountIndex: 460_492n },
    { amount: 0n },
  ];
  for (const changes of none) expect(deposited(changes).deposits).toEqual([]);
  expect(depositsIn(OURS, { transfer: undefined, queuedAtMs: QUEUED_MS })).toEqual({
    depository: "460491",
    deposits: [],
    timestamp: 1_763_298_993n,
  });
});

test("a memo is an id unless its last twelve bytes are zero", () => {
  const idOf = (memo: Hex32) => deposited({ memo }).deposits[0]?.depositId;
  expect(idOf(`0x${"00".repeat(32)}`)).toBeUndefined();
  expect(idOf(`0x${"ab".repeat(20)}${"00".repeat(12)}`)).toBeUndefined();
  expect(idOf(`0x${"ab".repeat(21)}${"00".repeat(11)}`)).toBe(`0x${"ab".repeat(21)}${"00".repeat(11)}`);
  expect(idOf(`0x${"00".repeat(31)}01`)).toBe(`0x${"00".repeat(31)}01`);
});

test("for any transfers, deposits total exactly what the depositories received from others", () => {
  const account = fc.constantFrom(460_491n, 460_492n, 5n, 6n);
  const transfers = fc.array(
    fc.record({
      fromAccountIndex: account,
      toAccountIndex: account,
      amount: fc.bigInt({ min: 0n, max: 1n << 60n }),
    }),
  );
  fc.assert(
    fc.property(transfers, (all) => {
      const minted = all
        .flatMap((transfer) => deposited(transfer).deposits)
        .reduce((sum, { amount }) => sum + amount, 0n);
      const ours = (index: bigint): boolean => index > 6n;
      const received = all.reduce((sum, transfer) => {
        const comes = ours(transfer.toAccountIndex) && !ours(transfer.fromAccountIndex);
        return comes ? sum + transfer.amount : sum;
      }, 0n);
      expect(minted).toBe(received);
    }),
  );
});

const aQuestion = (changes: Partial<PaymentQuestion> = {}): PaymentQuestion => ({
  orderId: ID,
  solver: `0x${"50".repeat(20)}`,
  deadline: 1_763_298_994,
  extraData: "0x",
  receipts: [{ recipient: "462196", currency: "0" }],
  calls: [],
  ...changes,
});
const judge = (
  changes: Partial<RecordedTransfer> = {},
  question: Partial<PaymentQuestion> = {},
  executedAtMs = QUEUED_MS - 100n,
) =>
  judgePayments(
    OURS,
    { transfer: aTransfer({ toAccountIndex: 462_196n, ...changes }), queuedAtMs: QUEUED_MS, executedAtMs },
    aQuestion(question),
  );

test("a transfer with the order's id as its memo pays its recipient, in its currency only", () => {
  expect(judge()).toEqual({ amounts: [5_000_000n], timestamp: 1_763_298_993n });
  const receipts = [
    { recipient: "462196", currency: "3" },
    { recipient: "5", currency: "0" },
    { recipient: "462196", currency: "0" },
  ];
  expect(judge({}, { receipts })).toMatchObject({ amounts: [0n, 0n, 5_000_000n] });
  expect(judge({ toRouteType: 1n }, { receipts })).toMatchObject({ amounts: [5_000_000n, 0n, 0n] });
});

test("counts ETH only in the balance where it can be spent", () => {
  const receipts = [{ recipient: "462196", currency: "1" }];
  expect(judge({ assetIndex: 1n, toRouteType: 1n }, { receipts })).toMatchObject({ amounts: [5_000_000n] });
  expect(judge({ assetIndex: 1n, toRouteType: 0n }, { receipts })).toMatchObject({ amounts: [0n] });
});

test("a transfer from an account to itself is not a payment", () => {
  expect(judge({ fromAccountIndex: 462_196n, fromRouteType: 1n })).toMatchObject({ amounts: [0n] });
});

test("a payment is in time if the later of Lighter's two times is", () => {
  expect(judge({}, { deadline: 1_763_298_993 })).toEqual({
    refusal: expect.stringContaining("deadline") as string,
  });
  expect(judge({}, {}, 1_763_298_994_000n)).toMatchObject({ timestamp: 1_763_298_994n });
  expect(judge({}, {}, 1_763_298_994_001n)).toEqual({
    refusal: expect.stringContaining("deadline") as string,
  });
});

test("refuses payments for another order, from or to a depository, with calls, and transactions without a transfer", () => {
  expect(judge({ memo: `0x${"ac".repeat(32)}` })).toHaveProperty("refusal");
  expect(judge({ fromAccountIndex: 460_491n })).toHaveProperty("refusal");
  expect(judge({ fromAccountIndex: 460_492n })).toHaveProperty("refusal");
  expect(
    judge({ toAccountIndex: 460_491n }, { receipts: [{ recipient: "460491", currency: "0" }] }),
  ).toHaveProperty("refusal");
  expect(judge({}, { calls: ["0x01"] })).toHaveProperty("refusal");
  const none = { transfer: undefined, queuedAtMs: QUEUED_MS, executedAtMs: QUEUED_MS };
  expect(judgePayments(OURS, none, aQuestion())).toHaveProperty("refusal");
});

test("throws if the question contains a recipient and currency twice", () => {
  const receipt = { recipient: "462196", currency: "0" };
  expect(() => judge({}, { receipts: [receipt, receipt] })).toThrow(RangeError);
});
