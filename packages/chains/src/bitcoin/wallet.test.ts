import { expect, test } from "vitest";
import { solver, sourceOf } from "../../../../test/support/bitcoin-transactions.ts";
import { RpcFault } from "@causeway/families";
import { bytesIn, type ReportedOutput } from "@causeway/families/bitcoin";
import { createWallet } from "./wallet.ts";

/** An explorer that lists these amounts at the solver's address, and a node that has all of them. */
function createWorld(amounts: readonly bigint[]) {
  const sources = amounts.map((amount, index) => sourceOf({ script: solver.script, amount }, index));
  const bytes = new Map(sources.map(({ txid, hex }) => [txid, bytesIn(hex)]));
  const listed = sources.map(({ txid }, index): ReportedOutput => ({
    txid,
    vout: 0,
    amount: amounts[index] ?? 0n,
    isConfirmed: true,
  }));
  const world = { listed, spent: new Set<string>(), refuses: false, asked: 0, faults: 0 };
  const wallet = createWallet(solver.script, "mainnet", {
    reads: {
      bytes: async (txid) => await Promise.resolve(bytes.get(txid)),
      isUnspent: async ({ txid }) => {
        world.asked += 1;
        return await Promise.resolve(!world.spent.has(txid));
      },
    },
    explorer: {
      outputsOf: async () => {
        if (world.refuses)
          throw new RpcFault({ kind: "refused", method: "utxo", reason: "Too many unspent outputs (>500)" });
        return await Promise.resolve(world.listed);
      },
    },
    onUnlisted: () => {
      world.faults += 1;
    },
  });
  return { world, wallet };
}

test("reads only the largest outputs at the solver's address", async () => {
  const { world, wallet } = createWorld([...Array.from({ length: 450 }, () => 546n), 50_000n, 70_000n]);
  const utxos = await wallet.spendable();
  expect(utxos.slice(0, 2).map(({ amount }) => amount)).toEqual([70_000n, 50_000n]);
  expect(world.asked).toBe(200);
});

test("keeps paying from known outputs if the explorer refuses to list an address with too many", async () => {
  const { world, wallet } = createWorld([50_000n, 70_000n]);
  world.refuses = true;
  // No output is known yet, so there is nothing to pay with.
  await expect(wallet.spendable()).rejects.toThrow(RpcFault);
  world.refuses = false;
  expect(await wallet.spendable()).toHaveLength(2);
  world.refuses = true;
  world.spent.add(world.listed[0]?.txid ?? "");
  const utxos = await wallet.spendable();
  expect(utxos.map(({ amount }) => amount)).toEqual([70_000n]);
  expect(world.faults).toBe(1);
});
