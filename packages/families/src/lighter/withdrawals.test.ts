import {
  encodeLighterTransfer,
  lighterTransferId,
  type Hex,
  type Hex32,
  type LighterTransfer,
} from "@causeway/domain";
import fc from "fast-check";
import { expect, test } from "vitest";
import vector from "../../../../test/fixtures/oracle/withdrawal-lighter.json" with { type: "json" };
import type { LighterTransaction } from "./answers.ts";
import { outcomeOf, readWithdrawal, type WithdrawalPayment } from "./withdrawals.ts";

const RULES = { depositories: ["460491", "460492"], exchangeChainId: 304n };
const MEMO: Hex32 = `0x${"ab".repeat(32)}`;

const aTransfer = (changes: Partial<LighterTransfer> = {}): LighterTransfer => ({
  nonce: 12n,
  fromAccountIndex: 460_491n,
  fromRouteType: 0n,
  apiKeyIndex: 4n,
  toAccountIndex: 462_196n,
  toRouteType: 0n,
  assetIndex: 3n,
  amount: 1_000_000n,
  usdcFee: 100n,
  lighterChainId: 304n,
  memo: MEMO,
  ...changes,
});

function paymentOf(transfer: LighterTransfer): WithdrawalPayment {
  const payment = readWithdrawal(encodeLighterTransfer(transfer), RULES);
  if ("refusal" in payment) throw new Error(payment.refusal);
  return payment;
}

const PAYMENT = paymentOf(aTransfer());

let counter = 0;
/** A transaction of the depository's key, settled by default. */
function aTransaction(
  transfer: Partial<LighterTransfer> = {},
  fields: Partial<LighterTransaction> = {},
): LighterTransaction {
  counter += 1;
  const { lighterChainId: _, ...signed } = aTransfer(transfer);
  return {
    hash: counter.toString(16).padStart(80, "0"),
    state: "final",
    queuedAtMs: 1_763_298_993_375n,
    executedAtMs: 1_763_298_993_242n,
    blockHeight: 1_000n + signed.nonce,
    transfer: signed,
    ...fields,
  };
}
const outcome = (transactions: readonly LighterTransaction[], isComplete = true) =>
  outcomeOf(PAYMENT, { transactions, isComplete }, 304n);

test("reads the transfer of a payload", () => {
  expect(PAYMENT).toMatchObject({
    id: lighterTransferId(aTransfer()),
    depository: "460491",
    recipient: "462196",
    currency: "0",
    amount: 1_000_100n,
  });
  const { encoded, withdrawalId } = vector.output;
  const read = readWithdrawal(encoded as Hex, { depositories: ["100"], exchangeChainId: 304n });
  // The vector's asset does not exist on Lighter.
  expect(read).toHaveProperty("refusal");
  const { parameters } = vector.input.withdrawal.withdrawal;
  expect(lighterTransferId({ ...numbersOf(parameters), memo: `0x${parameters.memo}` })).toBe(withdrawalId);
});

test("refuses a payload without an effective payment, or that Lighter would never accept", () => {
  const invalid: Partial<LighterTransfer>[] = [
    { lighterChainId: 300n },
    { fromAccountIndex: 7n },
    { toAccountIndex: 460_491n },
    { toAccountIndex: 460_492n },
    { toAccountIndex: (1n << 48n) - 1n },
    { amount: 0n },
    { amount: 1n << 60n },
    { assetIndex: 0n },
    { assetIndex: 63n },
    { apiKeyIndex: 255n },
    { fromRouteType: 2n },
    { toRouteType: 2n },
    { assetIndex: 1n, toRouteType: 0n },
    { usdcFee: 1n << 60n },
    { nonce: 1n << 63n },
  ];
  for (const changes of invalid)
    expect(readWithdrawal(encodeLighterTransfer(aTransfer(changes)), RULES)).toHaveProperty("refusal");
  for (const payload of ["0x", `${encodeLighterTransfer(aTransfer())}00`] as const)
    expect(readWithdrawal(payload, RULES)).toHaveProperty("refusal");
});

test("withdraws spot assets", () => {
  expect(paymentOf(aTransfer({ toRouteType: 1n, usdcFee: 0n })).currency).toBe("3");
  expect(paymentOf(aTransfer({ assetIndex: 1n, toRouteType: 1n, usdcFee: 0n })).currency).toBe("1");
});

test("debits the fee of a withdrawal too, and refuses a fee that another balance would pay", () => {
  const spot = { fromRouteType: 1n, toRouteType: 1n };
  expect(paymentOf(aTransfer({ usdcFee: 100n })).amount).toBe(1_000_100n);
  expect(paymentOf(aTransfer({ ...spot, usdcFee: 100n }))).toMatchObject({
    currency: "3",
    amount: 1_000_100n,
  });
  for (const changes of [{ toRouteType: 1n }, { ...spot, assetIndex: 1n }])
    expect(readWithdrawal(encodeLighterTransfer(aTransfer({ ...changes, usdcFee: 1n })), RULES)).toEqual({
      refusal: "usdcFee must be 0, because it would be charged to a different balance than the withdrawal",
    });
});

test("a withdrawal is executed once a transaction with exactly its content is settled", () => {
  expect(outcome([aTransaction()])).toBe("executed");
  expect(outcome([aTransaction()], false)).toBe("executed");
});

test("a withdrawal is pending until its transaction is settled", () => {
  expect(outcome([aTransaction({}, { state: "notFinal" })])).toBe("pending");
  expect(outcome([])).toBe("pending");
});

test("a withdrawal is expired once a settled transaction used its nonce for anything else", () => {
  const otherTransfers: Partial<LighterTransfer>[] = [
    { amount: 999_999n },
    { toAccountIndex: 5n },
    { assetIndex: 1n },
    { fromRouteType: 1n },
    { toRouteType: 1n },
    { usdcFee: 0n },
    { memo: `0x${"ac".repeat(32)}` },
  ];
  for (const changes of otherTransfers) {
    expect(outcome([aTransaction(changes)], false)).toBe("expired");
    expect(outcome([aTransaction(changes, { state: "notFinal" })])).toBe("pending");
  }
});

test("transactions with other nonces, keys or accounts do not change the outcome", () => {
  const otherTransfers: Partial<LighterTransfer>[] = [
    { nonce: 11n },
    { nonce: 13n },
    { apiKeyIndex: 5n },
    { fromAccountIndex: 460_492n },
  ];
  for (const changes of otherTransfers) expect(outcome([aTransaction(changes)])).toBe("pending");
  expect(outcome(otherTransfers.map((changes) => aTransaction(changes)))).toBe("pending");
});

test("a withdrawal is expired if its transaction failed in a settled block, and pending if settlement is unproven", () => {
  const failed = aTransaction({}, { state: "failed", blockHeight: 1_012n });
  const later = aTransaction({ nonce: 13n });
  expect(outcome([failed, later])).toBe("expired");
  // The list is incomplete: a missing transaction may have executed the withdrawal.
  expect(outcome([failed, later], false)).toBe("pending");
  // No later transaction is settled, so the block may be reorged out.
  expect(outcome([failed])).toBe("pending");
  expect(outcome([failed, aTransaction({ nonce: 13n }, { state: "notFinal" })])).toBe("pending");
  expect(outcome([failed, aTransaction({ nonce: 13n }, { blockHeight: 1_011n })])).toBe("pending");
  expect(outcome([failed, aTransaction({ nonce: 13n, apiKeyIndex: 5n })])).toBe("pending");
  expect(outcome([failed, aTransaction({ nonce: 11n }, { blockHeight: 1_013n })])).toBe("pending");
  // Not in a block: the nonce is free.
  expect(outcome([aTransaction({}, { state: "failed", blockHeight: 0n }), later])).toBe("pending");
  // Another attempt is in progress.
  expect(outcome([failed, later, aTransaction({}, { state: "notFinal" })])).toBe("pending");
  // The first attempt failed, and a second one was executed.
  expect(outcome([failed, later, aTransaction()])).toBe("executed");
});

test("refuses two settled transactions with the same nonce as contradictory", () => {
  expect(() => outcome([aTransaction(), aTransaction({ amount: 5n })])).toThrow(/same nonce/);
  const transaction = aTransaction();
  expect(outcome([transaction, transaction])).toBe("executed");
});

// Model of everything that Lighter may do with a key, in any order. "executed" and "expired" must exclude
// each other.

type Step = "payload" | "other" | "include" | "fail" | "reject" | "settle" | "orphan";
const steps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom<Step>("payload", "other") },
    { weight: 4, arbitrary: fc.constant<Step>("include") },
    { weight: 2, arbitrary: fc.constant<Step>("fail") },
    { weight: 1, arbitrary: fc.constantFrom<Step>("reject", "orphan") },
    { weight: 4, arbitrary: fc.constant<Step>("settle") },
  ),
  { minLength: 6, maxLength: 25, size: "max" },
);

interface Modeled {
  readonly transaction: LighterTransaction;
  readonly isPayload: boolean;
}

/** All records after each step; every transaction keeps its position. */
function historyOf(plan: readonly Step[]): readonly (readonly Modeled[])[] {
  let height = 1_000n;
  let records: Modeled[] = [];
  const all: (readonly Modeled[])[] = [];
  const inBlocks = (): Modeled[] =>
    records
      .filter(({ transaction }) => transaction.blockHeight > 0n)
      .toSorted((a, b) => (a.transaction.blockHeight < b.transaction.blockHeight ? -1 : 1));
  const unsettled = (): Modeled[] => {
    const placed = inBlocks();
    const settled = placed.findLastIndex(({ transaction }) => transaction.state === "final");
    return placed.slice(settled + 1);
  };
  const nextNonce = (): bigint => 12n + BigInt(inBlocks().length);
  const change = (hash: string, fields: Partial<LighterTransaction>): void => {
    records = records.map((record) =>
      record.transaction.hash === hash
        ? { ...record, transaction: { ...record.transaction, ...fields } }
        : record,
    );
  };
  const queued = (): Modeled | undefined =>
    records.find(
      ({ transaction }) =>
        transaction.state === "notFinal" &&
        transaction.blockHeight === 0n &&
        transaction.transfer?.nonce === nextNonce(),
    );
  for (const step of plan) {
    const first = queued();
    switch (step) {
      case "payload":
      case "other": {
        const isPayload = step === "payload";
        const changes = isPayload ? {} : { nonce: nextNonce(), amount: 7n };
        records.push({
          isPayload,
          transaction: aTransaction(changes, { state: "notFinal", blockHeight: 0n }),
        });
        break;
      }
      case "include":
      case "fail":
        if (first !== undefined)
          change(first.transaction.hash, {
            blockHeight: (height += 1n),
            state: step === "fail" ? "failed" : "notFinal",
          });
        break;
      case "reject":
        if (first !== undefined) change(first.transaction.hash, { state: "failed" });
        break;
      case "settle": {
        // Blocks are settled in order; a failed transaction stays failed.
        for (const { transaction } of unsettled()) {
          if (transaction.state === "failed") continue;
          change(transaction.hash, { state: "final" });
          break;
        }
        break;
      }
      case "orphan": {
        const last = unsettled().at(-1);
        if (last !== undefined) change(last.transaction.hash, { state: "failed", blockHeight: 0n });
        break;
      }
      default:
        step satisfies never;
    }
    all.push([...records]);
  }
  return all;
}

test("no payload is both executed and expired, for any history of Lighter and any visible part of it", () => {
  fc.assert(
    fc.property(steps, fc.array(fc.boolean(), { minLength: 30, maxLength: 30 }), (plan, seen) => {
      const history = historyOf(plan);
      const outcomes = new Set<string>();
      for (const records of history) {
        const transactions = records.map(({ transaction }) => transaction);
        const part = transactions.filter((_, index) => seen[index % seen.length]);
        outcomes.add(outcome(transactions, true));
        outcomes.add(outcome(part, false));
      }
      expect(outcomes.has("executed") && outcomes.has("expired")).toBe(false);
      const end = history.at(-1) ?? [];
      const isPaid = end.some(({ isPayload, transaction }) => isPayload && transaction.state === "final");
      if (isPaid) expect(outcomes.has("expired")).toBe(false);
      else expect(outcomes.has("executed")).toBe(false);
    }),
    { numRuns: 3_000 },
  );
});

function numbersOf(parameters: Readonly<Record<string, string>>): Omit<LighterTransfer, "memo"> {
  const number = (name: string): bigint => BigInt(parameters[name] ?? "");
  return {
    nonce: number("nonce"),
    fromAccountIndex: number("fromAccountIndex"),
    fromRouteType: number("fromRouteType"),
    apiKeyIndex: number("apiKeyIndex"),
    toAccountIndex: number("toAccountIndex"),
    toRouteType: number("toRouteType"),
    assetIndex: number("assetIndex"),
    amount: number("amount"),
    usdcFee: number("usdcFee"),
    lighterChainId: number("lighterChainId"),
  };
}
