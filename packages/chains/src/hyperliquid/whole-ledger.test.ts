import type { Address, Hex32 } from "@causeway/domain";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createFactCache } from "../evm/fact-cache.ts";
import { RpcFault } from "@causeway/families";
import type { LedgerPage, LedgerTransfer } from "@causeway/families/hyperliquid";
import { createCrowdedTimestamps, readWholeLedger, type CachedPage } from "./whole-ledger.ts";

const user: Address = "0x00000000000000000000000000000000000000a1";

function entryAt(time: bigint, number: number): LedgerTransfer {
  const hash: Hex32 = `0x${number.toString(16).padStart(64, "0")}`;
  return { hash, time, kind: "usdSend", user, destination: user, amount: "1", nonce: undefined };
}

/** An endpoint that silently returns at most `max` entries. */
function truncatingEndpoint(entries: readonly LedgerTransfer[], max: number, keeps: "oldest" | "newest") {
  let requests = 0;
  const ledger = async (_user: Address, from: bigint, to: bigint): Promise<LedgerPage> => {
    requests += 1;
    const inRange = entries.filter(({ time }) => time >= from && time <= to);
    const transfers = keeps === "oldest" ? inRange.slice(0, max) : inRange.slice(-max);
    return await Promise.resolve({ size: transfers.length, transfers, unknown: [] });
  };
  return { ledger, requests: () => requests };
}

test("reads a ledger completely or reports that it did not, regardless of which end of a response is truncated", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 100_000 }), { maxLength: 3_000 }),
      fc.constantFrom("oldest" as const, "newest" as const),
      async (times, keeps) => {
        const entries = times.toSorted((a, b) => a - b).map((time, index) => entryAt(BigInt(time), index));
        const reading = await readWholeLedger(truncatingEndpoint(entries, 448, keeps), user, 0n, 100_000n);
        if (reading.isWhole) expect(reading.transfers).toHaveLength(entries.length);
        // Entries with this distribution can always be read.
        else expect(times.length).toBeGreaterThan(2_000);
      },
    ),
    { numRuns: 30 },
  );
});

test("returns the visible entries of a crowded block time and continues after it, but is not complete", async () => {
  const crowd = Array.from({ length: 600 }, (_, index) => entryAt(5n, index));
  const entries = [entryAt(2n, 1_000), ...crowd, entryAt(8n, 1_001)];
  const reading = await readWholeLedger(truncatingEndpoint(entries, 500, "oldest"), user, 0n, 10n);
  expect(reading).toMatchObject({ isWhole: false, crowded: [5n], upTo: 10n });
  expect(reading.transfers).toHaveLength(502);
  expect(reading.transfers.at(-1)?.time).toBe(8n);
});

test("requests a known crowded block time by itself", async () => {
  const crowd = Array.from({ length: 600 }, (_, index) => entryAt(500_000n, index));
  const endpoint = truncatingEndpoint(crowd, 500, "oldest");
  const knownCrowded = createCrowdedTimestamps();
  for (const time of [500_000n, 2n ** 40n]) knownCrowded.add(time);
  const reading = await readWholeLedger(endpoint, user, 0n, 10n ** 6n, { crowded: knownCrowded });
  expect(reading).toMatchObject({ isWhole: false, crowded: [500_000n], upTo: 10n ** 6n });
  expect(endpoint.requests()).toBe(3);
});

test("finds a crowded block time in four requests, even if only sent entries are kept", async () => {
  const crowd = Array.from({ length: 600 }, (_, index) => entryAt(500_000n, index));
  for (const onlySent of [false, true]) {
    const endpoint = truncatingEndpoint(crowd, 500, "oldest");
    const account: Address = onlySent ? "0x00000000000000000000000000000000000000a9" : user;
    const reading = await readWholeLedger(endpoint, account, 0n, 10n ** 6n, { onlySent });
    expect(reading).toMatchObject({ isWhole: false, crowded: [500_000n], upTo: 10n ** 6n });
    expect(reading.transfers).toHaveLength(onlySent ? 0 : 500);
    expect(endpoint.requests()).toBe(4);
  }
});

test("remembers a crowded block time that was found before a fault, and reports it once", async () => {
  const crowd = Array.from({ length: 600 }, (_, index) => entryAt(500_000n, index));
  const endpoint = truncatingEndpoint(crowd, 500, "oldest");
  const reported: bigint[] = [];
  const crowded = createCrowdedTimestamps((time) => reported.push(time));
  const limited = async (_user: Address, from: bigint, to: bigint): Promise<LedgerPage> => {
    if (endpoint.requests() === 3)
      throw new RpcFault({ kind: "http", method: "ledger", reason: "HTTP status 429" });
    return await endpoint.ledger(_user, from, to);
  };
  await expect(readWholeLedger({ ledger: limited }, user, 0n, 10n ** 6n, { crowded })).rejects.toThrow(
    RpcFault,
  );
  expect([...crowded]).toEqual([500_000n]);
  await readWholeLedger(endpoint, user, 0n, 10n ** 6n, { crowded });
  expect(reported).toEqual([500_000n]);
});

test("a reading that a fault or the caller stops early has every entry up to `upTo`, and is not complete", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 2_000 }), { minLength: 500, maxLength: 3_000, size: "max" }),
      fc.constantFrom("oldest" as const, "newest" as const),
      fc.integer({ min: 1, max: 40 }),
      fc.option(fc.integer({ min: 1, max: 1_000 })),
      async (times, keeps, faultsAt, enough) => {
        const entries = times.toSorted((a, b) => a - b).map((time, index) => entryAt(BigInt(time), index));
        const endpoint = truncatingEndpoint(entries, 448, keeps);
        const ledger = async (account: Address, from: bigint, to: bigint): Promise<LedgerPage> => {
          if (endpoint.requests() === faultsAt)
            throw new RpcFault({ kind: "http", method: "ledger", reason: "HTTP status 429" });
          return await endpoint.ledger(account, from, to);
        };
        const reading = await readWholeLedger({ ledger }, user, 0n, 2_000n, {
          keepsPartial: true,
          maxRequests: 20,
          isEnough: (transfers) => enough !== null && transfers.length > enough,
        });
        expect(reading.transfers).toEqual(entries.filter(({ time }) => time <= reading.upTo));
        if (reading.upTo < 2_000n) expect(reading.isWhole).toBe(false);
        // A reading can be empty only because of a fault.
        if (reading.upTo < 0n) expect(reading.fault).toBeInstanceOf(RpcFault);
      },
    ),
    { numRuns: 100 },
  );
});

test("reads the beginning of a ledger of 10,000 entries in two requests if answers show the oldest entries", async () => {
  const endpoint = truncatingEndpoint(
    Array.from({ length: 10_000 }, (_, index) => entryAt(BigInt(index) * 5n, index)),
    500,
    "oldest",
  );
  const reading = await readWholeLedger(endpoint, user, 0n, 86_400_000n, { isEnough: () => true });
  expect(reading.transfers).toHaveLength(251);
  expect(endpoint.requests()).toBe(2);
});

test("returns all entries with the same hash, because the caller may need any of them", async () => {
  const sameHash = [entryAt(3n, 1), { ...entryAt(3n, 1), nonce: 7n }];
  expect(await readWholeLedger(truncatingEndpoint(sameHash, 500, "oldest"), user, 0n, 10n)).toMatchObject({
    transfers: sameHash,
    isWhole: true,
  });
});

test("reads a quiet ledger with one request", async () => {
  const endpoint = truncatingEndpoint([entryAt(3n, 1)], 500, "oldest");
  expect((await readWholeLedger(endpoint, user, -5n, 10n)).transfers).toHaveLength(1);
  expect(endpoint.requests()).toBe(1);
});

test("stops after a limited number of requests to an endpoint that always returns too much", async () => {
  let requests = 0;
  const ledger = async (): Promise<LedgerPage> => {
    requests += 1;
    return await Promise.resolve({ size: 500, transfers: [], unknown: [] });
  };
  const reading = await readWholeLedger({ ledger }, user, 0n, 10n ** 12n);
  expect(reading.isWhole).toBe(false);
  expect(reading.upTo).toBeLessThan(10n ** 12n);
  expect(requests).toBeLessThanOrEqual(64);
});

test("reads a long ledger in several readings if its pages are cached", async () => {
  const entries = Array.from({ length: 40_000 }, (_, index) => entryAt(BigInt(index), index));
  const endpoint = truncatingEndpoint(entries, 500, "newest");
  const cachedPages = createFactCache<CachedPage>({ entries: 10_000, bytes: 1e9, sizeOf: () => 1 });
  const read = async () => await readWholeLedger(endpoint, user, 0n, 40_000n, { cachedPages: cachedPages });
  expect((await read()).isWhole).toBe(false);
  const requestsPerReading: number[] = [endpoint.requests()];
  for (let isWhole = false; !isWhole && requestsPerReading.length < 20;) {
    const before = endpoint.requests();
    const reading = await read();
    requestsPerReading.push(endpoint.requests() - before);
    ({ isWhole } = reading);
    if (isWhole) expect(reading.transfers).toHaveLength(entries.length);
  }
  expect(requestsPerReading.length).toBeLessThan(20);
  expect(Math.max(...requestsPerReading)).toBeLessThanOrEqual(64);
});
