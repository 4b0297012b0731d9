import { expect, test, vi } from "vitest";
import { RpcFault } from "@causeway/families";
import { readScannedOutputs, type ReportedOutput, type ScannedOutput } from "@causeway/families/bitcoin";
import { createAddressListing } from "./address-listing.ts";
import { shareOutputs } from "./explorer.ts";

const SCRIPT = `0014${"11".repeat(20)}`;
const OTHER_SCRIPT = `0014${"22".repeat(20)}`;
const tooMany = new RpcFault({ kind: "http", method: "utxo", reason: "HTTP status 400: Too many outputs" });

const output = (seed: string, amount: bigint, isConfirmed = true): ReportedOutput => ({
  txid: seed.repeat(32),
  vout: 0,
  amount,
  isConfirmed,
});

/** An explorer, and a node whose scans end when the test ends them. */
function createWorld() {
  const scans: { scripts: readonly string[]; end: (found: readonly ScannedOutput[]) => Promise<void> }[] = [];
  const world = {
    explorer: [] as readonly ReportedOutput[] | RpcFault,
    nowMs: 0,
    scans,
    faults: [] as unknown[],
  };
  const listing = createAddressListing("regtest", 3, {
    explorer: {
      outputsOf: async () => {
        if (world.explorer instanceof RpcFault) throw world.explorer;
        return await Promise.resolve(world.explorer);
      },
    },
    reads: {
      scan: async (scripts) =>
        await new Promise((resolve) => {
          const end = async (outputs: readonly ScannedOutput[]): Promise<void> => {
            resolve(outputs);
            await new Promise((done) => setImmediate(done));
          };
          scans.push({ scripts, end });
        }),
    },
    now: () => world.nowMs,
    onFault: (error) => world.faults.push(error),
  });
  return {
    world,
    amounts: async (script = SCRIPT) => (await listing.outputsOf(script)).map((o) => o.amount),
  };
}

test("lists the largest confirmed outputs", async () => {
  const { world, amounts } = createWorld();
  world.explorer = [
    output("a1", 1n),
    output("a2", 5n),
    output("a3", 9n, false),
    output("a4", 7n),
    output("a5", 6n),
  ];
  expect(await amounts()).toEqual([7n, 6n, 5n]);
});

test("keeps the last list of an address with too much dust to list until the node has scanned it", async () => {
  const { world, amounts } = createWorld();
  world.explorer = [output("a1", 700n)];
  expect(await amounts()).toEqual([700n]);
  world.explorer = tooMany;
  expect(await amounts()).toEqual([700n]);
  expect(world.faults).toEqual([tooMany]);
  // Another payment arrived since.
  await world.scans[0]?.end([
    { ...output("a1", 700n), script: SCRIPT },
    { ...output("a2", 900n), script: SCRIPT },
  ]);
  expect(await amounts()).toEqual([900n, 700n]);
});

test("scans addresses without a list together, one scan at a time and at most every 10 minutes", async () => {
  const { world, amounts } = createWorld();
  world.explorer = tooMany;
  await expect(amounts()).rejects.toBe(tooMany);
  await expect(amounts(OTHER_SCRIPT)).rejects.toBe(tooMany);
  expect(world.scans.map(({ scripts }) => scripts)).toEqual([[SCRIPT]]);
  world.nowMs = 600_000;
  await expect(amounts(OTHER_SCRIPT)).rejects.toBe(tooMany);
  expect(world.scans).toHaveLength(1);
  await world.scans[0]?.end([{ ...output("a1", 700n), script: SCRIPT }]);
  expect(await amounts()).toEqual([700n]);
  expect(world.scans.map(({ scripts }) => scripts)).toEqual([[SCRIPT], [OTHER_SCRIPT, SCRIPT]]);
  await world.scans[1]?.end([]);
  await expect(amounts(OTHER_SCRIPT)).rejects.toBe(tooMany);
  expect(world.scans).toHaveLength(2);
});

test("an explorer that is down or rate-limited causes no scan", async () => {
  const { world, amounts } = createWorld();
  for (const fault of [
    new RpcFault({ kind: "network", method: "utxo", reason: "network error" }),
    new RpcFault({ kind: "http", isPause: true, method: "utxo", reason: "HTTP status 429" }),
  ]) {
    world.explorer = fault;
    await expect(amounts()).rejects.toBe(fault);
  }
  expect(world.scans).toEqual([]);
});

test("reads a scan of Bitcoin Core", () => {
  const txid = "ab".repeat(32);
  const unspent = {
    txid,
    vout: 1,
    scriptPubKey: SCRIPT,
    desc: `raw(${SCRIPT})#x`,
    amount: 0.00012345,
    height: 9,
  };
  expect(readScannedOutputs({ success: true, height: 10, unspents: [unspent] })).toEqual([
    { txid, vout: 1, amount: 12_345n, isConfirmed: true, script: SCRIPT },
  ]);
  for (const answer of [null, { success: false, unspents: [] }, { success: true, unspents: [{ txid }] }])
    expect(() => readScannedOutputs(answer)).toThrow(RpcFault);
});

test("connections to several nodes share the list of an address for two seconds", async () => {
  vi.useFakeTimers();
  let requests = 0;
  const explorer = { outputsOf: async () => await Promise.resolve((requests++, [])) };
  const lists = new Map<string, Promise<readonly ReportedOutput[]>>();
  const connections = [1, 2, 3].map(() => shareOutputs(explorer, lists));
  const readAll = async () =>
    await Promise.all(connections.map(async (connection) => await connection.outputsOf("bc1q")));
  await readAll();
  await readAll();
  expect(requests).toBe(1);
  await vi.advanceTimersByTimeAsync(2_000);
  await readAll();
  expect(requests).toBe(2);
  expect(await shareOutputs(explorer, undefined).outputsOf("bc1q")).toEqual([]);
  expect(requests).toBe(3);
  vi.useRealTimers();
});
