import fc from "fast-check";
import { expect, test } from "vitest";
import { depository, recipient, solver } from "../../../../test/support/bitcoin-transactions.ts";
import { selectOutputs, type UnspentOutput } from "./output-selection.ts";
import { replacementFee, sharedInputs, type EarlierAttempt } from "./replacement.ts";
import { dustLimit, feeFor, vsizeOf } from "./sizes-and-dust.ts";

const utxo = (n: number, amount: bigint): UnspentOutput => ({
  txid: n.toString(16).padStart(64, "0"),
  vout: n % 3,
  amount,
  script: solver.script,
});
const utxos = fc
  .array(fc.bigInt(1n, 1_000_000n), { maxLength: 8 })
  .map((amounts) => amounts.map((amount, n) => utxo(n, amount)));
const rate = 3_000n;
const terms = (
  amount: bigint,
  available: readonly UnspentOutput[],
  required: readonly UnspentOutput[] = [],
) =>
  ({
    required,
    available,
    kind: "witnessKey",
    outputs: [recipient.script],
    amount,
    changeScript: solver.script,
    fee: (vsize: bigint) => feeFor(vsize, rate),
  }) as const;
const sum = (list: readonly UnspentOutput[]) => list.reduce((total, { amount }) => total + amount, 0n);

test("inputs equal payment, change and fee; the fee suffices, and change is never dust", () => {
  fc.assert(
    fc.property(utxos, fc.bigInt(600n, 500_000n), (available, amount) => {
      const selection = selectOutputs(terms(amount, available));
      if (selection === undefined) return;
      const { inputs, change, fee } = selection;
      expect(sum(inputs)).toBe(amount + change + fee);
      expect(new Set(inputs.map(({ txid }) => txid)).size).toBe(inputs.length);
      const scripts = change > 0n ? [recipient.script, solver.script] : [recipient.script];
      expect(fee).toBeGreaterThanOrEqual(
        feeFor(
          vsizeOf(
            inputs.map(() => "witnessKey"),
            scripts,
          ),
          rate,
        ),
      );
      if (change > 0n) expect(change).toBeGreaterThanOrEqual(dustLimit(solver.script));
    }),
  );
});

test("selects nothing only if all outputs together do not suffice", () => {
  fc.assert(
    fc.property(utxos, fc.bigInt(600n, 2_000_000n), (available, amount) => {
      if (selectOutputs(terms(amount, available)) !== undefined) return;
      const fee = feeFor(
        vsizeOf(
          available.map(() => "witnessKey"),
          [recipient.script],
        ),
        rate,
      );
      expect(sum(available)).toBeLessThan(amount + fee);
    }),
  );
});

test("selects the same outputs regardless of their order", () => {
  fc.assert(
    fc.property(utxos, fc.bigInt(600n, 500_000n), (available, amount) => {
      expect(selectOutputs(terms(amount, available.toReversed()))).toEqual(
        selectOutputs(terms(amount, available)),
      );
    }),
  );
});

test("selects the smallest output that suffices", () => {
  const available = [utxo(1, 1_000_000n), utxo(2, 60_000n), utxo(3, 10_000n)];
  expect(selectOutputs(terms(50_000n, available))?.inputs).toEqual([utxo(2, 60_000n)]);
  expect(selectOutputs(terms(1_050_000n, available))?.inputs).toHaveLength(2);
});

test("adds would-be dust to the fee, and never selects too little for the fee", () => {
  const { script } = recipient;
  const withChange = feeFor(vsizeOf(["witnessKey"], [script, solver.script]), rate);
  const withoutChange = feeFor(vsizeOf(["witnessKey"], [script]), rate);
  const select = (remainder: bigint) => selectOutputs(terms(50_000n, [utxo(1, 50_000n + remainder)]));
  expect(select(withChange + dustLimit(solver.script))).toMatchObject({
    change: dustLimit(solver.script),
    fee: withChange,
  });
  const dust = withChange + dustLimit(solver.script) - 1n;
  expect(select(dust)).toMatchObject({ change: 0n, fee: dust });
  expect(select(withoutChange)).toMatchObject({ change: 0n, fee: withoutChange });
  expect(select(withoutChange - 1n)).toBeUndefined();
});

test("spends required outputs, and others only if these do not suffice", () => {
  const required = [utxo(9, 20_000n)];
  const available = [utxo(1, 900_000n), utxo(2, 60_000n)];
  expect(selectOutputs(terms(10_000n, available, required))?.inputs).toEqual(required);
  expect(selectOutputs(terms(50_000n, available, required))?.inputs).toEqual([utxo(2, 60_000n), ...required]);
});

test("estimated sizes are never below those of signed transactions", () => {
  // One P2WPKH input and two P2WPKH outputs are at most 141 virtual bytes.
  expect(vsizeOf(["witnessKey"], [recipient.script, depository.script])).toBeGreaterThanOrEqual(141n);
  expect(vsizeOf(["taprootKey"], [`5120${"11".repeat(32)}`])).toBeGreaterThanOrEqual(111n);
  expect(vsizeOf(["keyHash"], [recipient.script])).toBeGreaterThanOrEqual(189n);
  // A rate of a little more than one per byte pays more than one per byte.
  expect(feeFor(141n, 1_001n)).toBe(142n);
  expect(dustLimit(recipient.script)).toBe(294n);
  expect(dustLimit(`76a914${"11".repeat(20)}88ac`)).toBe(546n);
  expect(dustLimit(`5120${"11".repeat(32)}`)).toBe(330n);
});

const attempt = (fee: bigint, vsize: bigint, ...inputs: readonly number[]): EarlierAttempt => ({
  txid: "00".repeat(32),
  fee,
  vsize,
  inputs: inputs.map((n) => utxo(n, 1n)),
});

test("a replacement pays a higher fee and fee rate than every earlier attempt", () => {
  const attempts = fc.array(
    fc.tuple(fc.bigInt(110n, 50_000n), fc.bigInt(110n, 1_000n)).map(([fee, vsize]) => attempt(fee, vsize, 1)),
    { minLength: 1, maxLength: 4 },
  );
  fc.assert(
    fc.property(attempts, fc.bigInt(110n, 1_000n), (earlierAttempts, vsize) => {
      const fee = replacementFee(earlierAttempts, vsize, rate);
      expect(fee).toBeGreaterThanOrEqual(feeFor(vsize, rate));
      for (const earlier of earlierAttempts) {
        expect(fee).toBeGreaterThanOrEqual(earlier.fee + vsize);
        expect(fee * earlier.vsize).toBeGreaterThan(earlier.fee * vsize);
      }
    }),
  );
  expect(replacementFee([], 141n, rate)).toBe(423n);
});

test("a replacement shares an input with every earlier attempt", () => {
  const groups = fc.array(fc.uniqueArray(fc.nat(9), { minLength: 1, maxLength: 4 }), { maxLength: 5 });
  fc.assert(
    fc.property(groups, (lists) => {
      const earlierAttempts = lists.map((inputs) => attempt(1n, 1n, ...inputs));
      const shared = new Set(sharedInputs(earlierAttempts).map(({ txid }) => txid));
      for (const { inputs } of earlierAttempts)
        expect(inputs.some(({ txid }) => shared.has(txid))).toBe(true);
    }),
  );
});
