import { RawTx } from "@scure/btc-signer";
import type { Hex } from "@causeway/domain";
import { bytesIn, hexOf, readRawTransaction } from "@causeway/families/bitcoin";
import { expect, test } from "vitest";
import { selectForSweep, createAddressOutputs } from "./address-outputs.ts";
import { paymentOutputs } from "./payment-transaction.ts";

const SCRIPT = `0014${"11".repeat(20)}`;
const OTHER_SCRIPT = `0014${"22".repeat(20)}`;
const CONFIRMATIONS = 6;

interface TestTransaction {
  readonly txid: string;
  readonly bytes: Uint8Array;
  readonly raw: Hex;
}

/** A transaction that spends an output and pays these amounts, without signatures. */
function transaction(spent: string, outputs: readonly { script: string; amount: bigint }[]): TestTransaction {
  const bytes = RawTx.encode({
    version: 2,
    segwitFlag: false,
    inputs: [{ txid: bytesOf(spent), index: 0, finalScriptSig: new Uint8Array(), sequence: 0xfffffffd }],
    outputs: outputs.map(({ script, amount }) => ({ script: bytesOf(script), amount })),
    witnesses: undefined,
    lockTime: 0,
  });
  const txid = readRawTransaction(bytes)?.txid ?? "";
  return { txid, bytes, raw: `0x${hexOf(bytes)}` };
}

const bytesOf = (hex: string): Uint8Array => bytesIn(hex) ?? new Uint8Array();

/** A node and a listing. `confirmations` by transaction; 0 means in the mempool. */
function addressOutputsOf(
  transactions: readonly (TestTransaction & { depth: number; spentIn?: "mempool" | "block" | undefined })[],
) {
  const find = (txid: string) => transactions.find((candidate) => candidate.txid === txid);
  return createAddressOutputs(
    { confirmations: CONFIRMATIONS },
    {
      bytes: async (txid) => find(txid)?.bytes,
      find: async (txid) => {
        const found = find(txid);
        const block = { height: 1, hash: "", time: 0n, confirmations: found?.depth ?? 0 };
        return found && { transaction: {} as never, block: found.depth > 0 ? block : undefined };
      },
      confirmationsOf: async ({ txid }, includeMempool) => {
        const found = find(txid);
        const isSpent = found?.spentIn === "block" || (includeMempool && found?.spentIn === "mempool");
        return isSpent ? 0 : (found?.depth ?? 0);
      },
    },
    {
      outputsOf: async () =>
        transactions
          .filter(({ depth, spentIn }) => depth > 0 && spentIn === undefined)
          // The explorer lists more than the address has.
          .map(({ txid }) => ({ txid, vout: 0, amount: 10n ** 9n, isConfirmed: true })),
    },
  );
}

const payment = (seed: string, amount: bigint, depth: number, script = SCRIPT) => ({
  ...transaction(seed.repeat(32), [{ script, amount }]),
  depth,
});

test("takes an address's confirmed balance from transaction bytes and the node, not from the explorer", async () => {
  const addressOutputs = addressOutputsOf([
    payment("a1", 5_000n, 9),
    payment("a2", 700n, 1),
    payment("a3", 90n, 0),
    payment("a4", 1n, 9, OTHER_SCRIPT),
  ]);
  expect(await addressOutputs.balance(SCRIPT, [])).toBe(5_700n);
  expect((await addressOutputs.spendable(SCRIPT)).map(({ amount }) => amount)).toEqual([5_000n]);
});

test("a pending sweep has moved nothing, a mined one has left its change, and an unclear one makes the balance unknown", async () => {
  const source = { ...payment("a1", 5_000n, 9), spentIn: "mempool" as const };
  const outputs = [...paymentOutputs(OTHER_SCRIPT, 3_000n, undefined), { script: SCRIPT, amount: 2_000n }];
  const sweep = transaction(source.txid, outputs);
  const pending = addressOutputsOf([source, { ...sweep, depth: 0 }]);
  const raws = [sweep.raw];
  expect(await pending.balance(SCRIPT, [{ raws, minedTxId: undefined }])).toBe(5_000n);
  expect(await pending.spendable(SCRIPT)).toEqual([]);
  const mined = addressOutputsOf([
    { ...source, spentIn: "block" },
    { ...sweep, depth: 1, spentIn: undefined },
  ]);
  const minedTxId = `0x${sweep.txid}` as const;
  expect(await mined.balance(SCRIPT, [{ raws, minedTxId: undefined }])).toBeUndefined();
  expect(await pending.balance(SCRIPT, [{ raws, minedTxId }])).toBeUndefined();
});

test("counts the 20 largest outputs", async () => {
  const seeds = Array.from({ length: 25 }, (_, n) => n);
  const addressOutputs = addressOutputsOf(
    seeds.map((n) => payment((0xa0 + n).toString(16), n < 20 ? 10_000n : 1n, 9)),
  );
  expect(await addressOutputs.balance(SCRIPT, [])).toBe(200_000n);
  expect(await addressOutputs.spendable(SCRIPT)).toHaveLength(20);
});

test("a sweep spends the output that equals the amount, otherwise the largest ones until they cover it", () => {
  const output = (amount: bigint) => ({ txid: "00", vout: Number(amount), amount, script: SCRIPT });
  const outputs = [output(10n), output(40n), output(30n)];
  const amounts = (amount: bigint) => selectForSweep(outputs, amount)?.map((entry) => entry.amount);
  expect(amounts(30n)).toEqual([30n]);
  expect(amounts(35n)).toEqual([40n]);
  expect(amounts(60n)).toEqual([40n, 30n]);
  expect(amounts(80n)).toEqual([40n, 30n, 10n]);
  expect(amounts(81n)).toBeUndefined();
});
