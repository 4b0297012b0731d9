import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openSigningRecord } from "./signing-record.adapter.ts";

const HOUR_MS = 3_600_000;
const START_MS = 1_800_000_000_000;

let folder: string;
let path: string;
let nowMs = START_MS;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "causeway-record-"));
  path = join(folder, "record");
  nowMs = START_MS;
});
afterEach(async () => await rm(folder, { recursive: true }));

const opened = async () => await openSigningRecord(path, () => nowMs);
const payment = (nonce: number, usd: bigint, maxUsd = 100n) => ({ chainId: 1, nonce, usd, maxUsd });

test("counts each nonce once, with the most that was signed for it, across restarts", async () => {
  const record = await opened();
  expect(record.isNew).toBe(true);
  expect(await record.count(payment(1, 40n))).toBe(40n);
  expect(await record.count(payment(1, 30n))).toBe(40n);
  expect(await record.count(payment(1, 50n))).toBe(50n);
  expect(await record.count({ ...payment(1, 20n), chainId: 2 })).toBe(70n);
  await record.close();
  const again = await opened();
  expect(again.isNew).toBe(false);
  expect(await again.count(payment(1, 50n))).toBe(70n);
  expect(await again.count(payment(2, 31n))).toBe(101n);
  expect(await again.count(payment(2, 30n))).toBe(100n);
  await again.close();
});

test("counts any 24 hours, so that no hour of the day allows more", async () => {
  const record = await opened();
  await record.count(payment(1, 60n));
  nowMs += 23 * HOUR_MS;
  await record.count(payment(2, 40n));
  expect(await record.count(payment(3, 1n))).toBe(101n);
  nowMs += HOUR_MS;
  expect(await record.count(payment(3, 1n))).toBe(41n);
  // A nonce that was counted yesterday is not counted again.
  expect(await record.count(payment(1, 60n))).toBe(41n);
  // A clock that goes back gives nothing back, and none.
  nowMs -= 12 * HOUR_MS;
  expect(await record.count(payment(4, 60n))).toBe(101n);
  await record.close();
});

test("a last line that a crash cut off does not count; a damaged one stops the process", async () => {
  const record = await opened();
  await record.count(payment(1, 40n));
  await record.close();
  await appendFile(path, `${START_MS} 1 2 5`);
  const again = await opened();
  expect(await again.count(payment(3, 60n))).toBe(100n);
  await again.close();
  expect(await readFile(path, "utf8")).toBe(`${START_MS} 1 1 40\n${START_MS} 1 3 60\n`);
  await writeFile(path, "nonsense\n");
  await expect(opened()).rejects.toThrow(`${path}:1 is damaged`);
});

test("of two processes with one record, only the newer counts", async () => {
  const [older, newer] = [await opened(), await opened()];
  expect(await newer.count(payment(1, 40n))).toBe(40n);
  await expect(older.count(payment(2, 40n))).rejects.toThrow("was written by another process");
  expect(await newer.count(payment(2, 50n))).toBe(90n);
  await Promise.all([older.close(), newer.close()]);
});

test("two requests at once do not both use the rest of the day", async () => {
  const record = await opened();
  const sums = await Promise.all([1, 2, 3, 4].map(async (nonce) => await record.count(payment(nonce, 40n))));
  expect(sums).toEqual([40n, 80n, 120n, 120n]);
  await record.close();
});
