import { PERPS_CURRENCY, type Address, type Hex32 } from "@causeway/domain";
import fc from "fast-check";
import { expect, test } from "vitest";
import { RpcFault } from "@causeway/families";
import type { HyperliquidTransaction, LedgerTransfer } from "@causeway/families/hyperliquid";
import { readCursor, writeCursor } from "./cursor.ts";
import { createArrivalsReader } from "./arrivals.ts";
import type { HyperliquidRpc } from "./rpc.ts";

const depository: Address = "0x00000000000000000000000000000000000000d1";
const friend: Address = "0x00000000000000000000000000000000000000a2";
const START = 1_763_761_234_567n;

function transfer(time: bigint, number: number, from: Address, to: Address): LedgerTransfer {
  const hash: Hex32 = `0x${number.toString(16).padStart(64, "0")}`;
  return { hash, time, kind: "usdSend", user: from, destination: to, amount: "1", nonce: undefined };
}

/** Reads a ledger that shows at most 500 entries per answer, with every transfer known to the explorer. */
function createReader(
  byTime: ReadonlyMap<bigint, readonly LedgerTransfer[]>,
  clock: bigint,
  isRefused: (hash: Hex32) => boolean = () => false,
  isLedgerRefused: () => boolean = () => false,
  now: () => bigint = () => clock,
) {
  const skipped: Hex32[] = [];
  const judged: Hex32[] = [];
  const crowded: bigint[] = [];
  let requests = 0;
  const answers: Partial<HyperliquidRpc> = {
    clock: async () => await Promise.resolve(now()),
    ledger: async (_user, from, to) => {
      requests += 1;
      if (isLedgerRefused())
        throw new RpcFault({ kind: "http", method: "ledger", reason: "HTTP status 429: " });
      const inRange = [...byTime].filter(([time]) => time >= from && time <= to);
      const transfers = inRange.flatMap(([, entries]) => entries).slice(0, 500);
      return await Promise.resolve({ size: transfers.length, transfers, unknown: [] });
    },
    transaction: async (hash) => {
      if (isRefused(hash))
        throw new RpcFault({ kind: "http", method: "txDetails", reason: "HTTP status 429: " });
      const transaction: HyperliquidTransaction = {
        hash,
        time: START,
        block: 7n,
        user: friend,
        error: undefined,
        action: undefined,
        isOpaque: false,
      };
      return await Promise.resolve(transaction);
    },
  };
  const reader = createArrivalsReader({
    rpc: answers as HyperliquidRpc,
    depositories: [depository],
    judge: async ({ hash, block }) => {
      judged.push(hash);
      return await Promise.resolve({
        sender: friend,
        destination: depository,
        from: friend,
        currency: PERPS_CURRENCY,
        amount: 1n,
        nonce: block,
      });
    },
    findPurpose: async () => await Promise.resolve(undefined),
    onStranded: () => undefined,
    onSkipped: (hash) => skipped.push(hash),
    onCrowdedTimestamp: (_depository, time) => crowded.push(time),
  });
  return { reading: reader, judged, crowded, skipped, requests: () => requests };
}

test("continues after a minute with more crowded block times than one reading can request", async () => {
  const byTime = new Map<bigint, readonly LedgerTransfer[]>();
  for (let moment = 0; moment < 100; moment++) {
    const time = START + BigInt(moment) * 600n;
    const entries = Array.from({ length: 300 }, (_, index) =>
      transfer(time, moment * 1_000 + index, depository, friend),
    );
    byTime.set(time, [...entries, transfer(time, moment * 1_000 + 999, friend, depository)]);
  }
  const after = transfer(START + 120_000n, 1_000_000, friend, depository);
  byTime.set(after.time, [after]);
  const { reading, judged, crowded, requests } = createReader(byTime, START + 180_000n);
  let cursor: string | undefined;
  for (let readings = 0; readings < 100 && !judged.includes(after.hash); readings++) {
    const before = requests();
    ({ cursor } = await reading.arrivals(cursor));
    expect(requests() - before).toBeLessThanOrEqual(128);
  }
  expect(judged).toContain(after.hash);
  // Every visible transfer is read once, and every crowded block time is reported once.
  expect(judged).toHaveLength(101);
  expect(new Set(judged).size).toBe(101);
  expect(crowded).toHaveLength(100);
});

test("during a long burst, the cursor lists no more transfers than its overlap has", async () => {
  const transfers = Array.from({ length: 3_000 }, (_, index) =>
    transfer(START + BigInt(index) * 100n, index, friend, depository),
  );
  for (const late of [400_000n, 4_000_000n]) {
    const { reading, judged } = createReader(
      new Map(transfers.map((entry) => [entry.time, [entry]])),
      START + late,
    );
    let cursor = writeCursor({ time: START, block: 0n, seen: [] });
    for (let readings = 0; readings < 60 && judged.length < transfers.length; readings++) {
      ({ cursor } = await reading.arrivals(cursor));
      // The transfers of one minute, and those that one reading adds.
      expect(readCursor(cursor).seen.length).toBeLessThanOrEqual(600 + 2 * 100);
    }
    expect(judged).toEqual(transfers.map(({ hash }) => hash));
  }
});

test("reads a transfer that the index and the explorer show late, even if a burst follows it", async () => {
  const first = transfer(START, 1, friend, depository);
  const late = transfer(START - 30_000n, 2, friend, depository);
  const byTime = new Map([[first.time, [first]]]);
  let now = START + 1_000n;
  let isUnknown = true;
  const { reading, judged } = createReader(
    byTime,
    now,
    (hash) => isUnknown && hash === late.hash,
    () => false,
    () => now,
  );
  let { cursor } = await reading.arrivals(undefined);
  byTime.set(late.time, [late]);
  await expect(reading.arrivals(cursor)).rejects.toThrow(RpcFault);
  // The ledger shows the crowd before the late transfer's overlap, so the overlap is not read again.
  for (let index = 0; index < 400; index++) {
    const dust = transfer(START + 10_000n + BigInt(index), 1_000 + index, friend, depository);
    byTime.set(dust.time, [dust]);
  }
  now = START + 3_600_000n;
  isUnknown = false;
  for (let readings = 0; readings < 10; readings++) ({ cursor } = await reading.arrivals(cursor));
  expect(judged).toContain(late.hash);
  expect(judged).toHaveLength(402);
});

test("never skips a transfer because of a fault of the ledger or the explorer", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 500, maxLength: 1_500, size: "max" }),
      fc.infiniteStream(fc.integer({ min: 0, max: 30 })),
      async (times, dice) => {
        const byTime = new Map<bigint, LedgerTransfer[]>();
        for (const [index, time] of times.entries()) {
          const entry = transfer(START + BigInt(time) * 200n, index, friend, depository);
          byTime.set(entry.time, [...(byTime.get(entry.time) ?? []), entry]);
        }
        const isFailing = (): boolean => dice.next().value === 0;
        const { reading, judged } = createReader(byTime, START + 120_000n, isFailing, isFailing);
        let cursor = writeCursor({ time: START, block: 0n, seen: [] });
        for (let readings = 0; readings < 500 && judged.length < times.length; readings++)
          try {
            ({ cursor } = await reading.arrivals(cursor));
          } catch (error) {
            if (!(error instanceof RpcFault)) throw error;
          }
        expect(new Set(judged).size).toBe(times.length);
      },
    ),
    { numRuns: 10 },
  );
  // Takes a second on an idle machine.
}, 30_000);

test("reads a quiet ledger with one request", async () => {
  const first = transfer(START, 1, friend, depository);
  const { reading, judged, requests } = createReader(new Map([[START, [first]]]), START + 60_000n);
  const { cursor } = await reading.arrivals(undefined);
  await reading.arrivals(cursor);
  expect(judged).toEqual([first.hash]);
  expect(requests()).toBe(2);
});

test("keeps what was read before a fault, and reads the rest once from the cursor after it", async () => {
  const transfers = Array.from({ length: 20 }, (_, index) =>
    transfer(START + BigInt(index) * 1_000n, index, friend, depository),
  );
  const byTime = new Map(transfers.map((entry) => [entry.time, [entry]]));
  const hashes = transfers.map(({ hash }) => hash);
  let refused = new Set([...hashes.slice(3, 5), ...hashes.slice(8)]);
  // Reading is half a day late. A fault must not count as a transfer that the explorer never shows.
  const clock = START + 50_000_000n;
  const { reading, judged, skipped } = createReader(byTime, clock, (hash) => refused.has(hash));
  const start = writeCursor({ time: START, block: 0n, seen: [] });
  const first = await reading.arrivals(start);
  const readHashes = [...hashes.slice(0, 3), ...hashes.slice(5, 8)];
  expect(first.deposits.map(({ txHash }) => txHash)).toEqual(readHashes);
  expect(first.fault).toMatchObject({ kind: "http" });
  expect(readCursor(first.cursor)).toMatchObject({ time: START + 3_000n, seen: readHashes });

  await expect(reading.arrivals(first.cursor)).rejects.toThrow(RpcFault);
  refused = new Set();
  const second = await reading.arrivals(first.cursor);
  expect(second.fault).toBeUndefined();
  expect(second.deposits.map(({ txHash }) => txHash)).toEqual([...hashes.slice(3, 5), ...hashes.slice(8)]);
  expect(judged.toSorted()).toEqual(hashes);
  expect((await reading.arrivals(second.cursor)).deposits).toEqual([]);
  expect(skipped).toEqual([]);
});

test("reports how far it has read, so that no request expires whose deposit is in an unread burst", async () => {
  const transfers = Array.from({ length: 250 }, (_, index) =>
    transfer(START + BigInt(index) * 1_000n, index, friend, depository),
  );
  const clock = START + 900_000n;
  const { reading, judged } = createReader(new Map(transfers.map((entry) => [entry.time, [entry]])), clock);
  let cursor = writeCursor({ time: START, block: 0n, seen: [] });
  for (const readCount of [100, 200]) {
    const arrivals = await reading.arrivals(cursor);
    ({ cursor } = arrivals);
    expect(judged).toHaveLength(readCount);
    const oldest = transfers[readCount]?.time ?? 0n;
    expect(arrivals.unreadSince).toBe(oldest / 1_000n);
    expect(arrivals.upTo.timestamp).toBe((oldest - 1n) / 1_000n);
  }
  const last = await reading.arrivals(cursor);
  expect(last.unreadSince).toBeUndefined();
  expect(last.upTo.timestamp).toBe(clock / 1_000n);
});
