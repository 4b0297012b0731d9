import {
  appendFile,
  copyFile,
  mkdir,
  mkdtemp,
  open,
  readFile,
  rename,
  rm,
  writeFile,
} from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { checkRecord } from "./record-check.ts";
import { openSigningRecord } from "./signing-record.adapter.ts";

const HOUR_MS = 3_600_000;
const START_MS = 1_800_000_000_000;
const ACCOUNT = `0x${"a1".repeat(20)}` as const;
const HEADER = `account ${ACCOUNT}\n`;

let folder: string;
let path: string;
let nowMs = START_MS;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "causeway-record-"));
  path = join(folder, "record");
  nowMs = START_MS;
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true });
});

/** The prototype of all open files. */
const probe = await open(process.execPath);
const prototype = Object.getPrototypeOf(probe) as FileHandle;
await probe.close();

const openRecord = async (account = ACCOUNT) => await openSigningRecord(path, account, () => nowMs);
const payment = (nonce: number, usd: bigint, maxUsd = 100n) => ({ chainId: 1, nonce, usd, maxUsd });

test("counts each nonce once, with the most that was signed for it, across restarts", async () => {
  const record = await openRecord();
  expect(record.isNew).toBe(true);
  expect(await record.count(payment(1, 40n))).toBe(40n);
  expect(await record.count(payment(1, 30n))).toBe(40n);
  expect(await record.count(payment(1, 50n))).toBe(50n);
  expect(await record.count({ ...payment(1, 20n), chainId: 2 })).toBe(70n);
  await record.close();
  const again = await openRecord();
  expect(again.isNew).toBe(false);
  expect(await again.count(payment(1, 50n))).toBe(70n);
  expect(await again.count(payment(2, 31n))).toBe(101n);
  expect(await again.count(payment(2, 30n))).toBe(100n);
  await again.close();
});

test("counts any 24 hours, so that no hour of the day allows more", async () => {
  const record = await openRecord();
  await record.count(payment(1, 60n));
  nowMs += 23 * HOUR_MS;
  await record.count(payment(2, 40n));
  expect(await record.count(payment(3, 1n))).toBe(101n);
  nowMs += HOUR_MS;
  expect(await record.count(payment(3, 1n))).toBe(41n);
  // A nonce that was counted yesterday is not counted again.
  expect(await record.count(payment(1, 60n))).toBe(41n);
  // A clock that is set back frees no part of the limit.
  nowMs -= 12 * HOUR_MS;
  expect(await record.count(payment(4, 60n))).toBe(101n);
  await record.close();
});

test("ignores a last line that a crash cut off, and does not open a damaged record", async () => {
  const record = await openRecord();
  await record.count(payment(1, 40n));
  await record.close();
  await appendFile(path, `${START_MS} 1 2 5`);
  const again = await openRecord();
  expect(await again.count(payment(3, 60n))).toBe(100n);
  await again.close();
  expect(await readFile(path, "utf8")).toBe(`${HEADER}${START_MS} 1 1 40\n${START_MS} 1 3 60\n`);
  await writeFile(path, `${HEADER}nonsense\n`);
  await expect(openRecord()).rejects.toThrow(`${path}:2 is damaged`);
  await writeFile(path, "nonsense");
  await expect(openRecord()).rejects.toThrow(`${path}:1 is damaged`);
});

test("refuses a record that does not name its account, and says how to name it", async () => {
  const record = await openRecord();
  await record.count(payment(1, 40n));
  await record.close();
  const text = await readFile(path, "utf8");
  await writeFile(path, text.slice(HEADER.length));
  await expect(openRecord()).rejects.toThrow(`insert the line "account ${ACCOUNT}" at its beginning`);
  await writeFile(path, text);
  const again = await openRecord();
  expect(await again.count(payment(2, 60n))).toBe(100n);
  await again.close();
});

test("does not open the record for a second process, and the first process continues", async () => {
  const record = await openRecord();
  await expect(openRecord()).rejects.toThrow(`${path} is used by another process`);
  expect(await record.count(payment(1, 40n))).toBe(40n);
  await record.close();
  const next = await openRecord();
  expect(await next.count(payment(2, 40n))).toBe(80n);
  await next.close();
});

test("does not open the record of a former key for a new key, whose nonces would not be counted", async () => {
  const record = await openRecord();
  await record.count(payment(0, 100n));
  await record.close();
  const before = await readFile(path, "utf8");
  const rotated = `0x${"B2".repeat(20)}` as const;
  await expect(openRecord(rotated)).rejects.toThrow(
    `${path} counts the signatures of ${ACCOUNT}, not of ${rotated}; give each key a file of its own`,
  );
  expect(await readFile(path, "utf8")).toBe(before);
  path = join(folder, "rotated");
  const rotatedRecord = await openRecord(rotated);
  expect(rotatedRecord.isNew).toBe(true);
  expect(await rotatedRecord.count(payment(0, 100n))).toBe(100n);
  expect(await rotatedRecord.count(payment(1, 1n))).toBe(101n);
  await rotatedRecord.close();
});

test("allows no signature if the file is replaced while a line is written", async () => {
  const record = await openRecord();
  await record.count(payment(1, 40n));
  mockNextCall("datasync", async () => {
    await copyFile(path, `${path}.copy`);
    await rename(`${path}.copy`, path);
  });
  await expect(record.count(payment(2, 40n))).rejects.toThrow("was written by another process");
  expect(await checkRecord(record)).toMatchObject({ ready: false });
  await record.close();
});

test("allows no signature after its lock was taken over", async () => {
  const record = await openRecord();
  await rm(`${path}.lock`);
  await expect(record.count(payment(1, 40n))).rejects.toThrow("was written by another process");
  await record.close();
});

test("counts nothing while the disk is full, and continues once there is room", async () => {
  const record = await openRecord();
  mockNextCall("appendFile", async (file, bytes) => {
    await file.write((bytes as Buffer).subarray(0, 9));
    throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
  });
  await expect(record.count(payment(1, 40n))).rejects.toThrow(`${path} cannot be written (ENOSPC)`);
  expect(await record.count(payment(1, 50n))).toBe(50n);
  expect(await checkRecord(record)).toEqual({ ready: true, detail: "ok" });
  await record.close();
  expect(await readFile(path, "utf8")).toBe(`${HEADER}${START_MS} 1 1 50\n`);
});

test("reports that the disk cannot be written, and that the clock is behind the record", async () => {
  const record = await openRecord();
  nowMs += 2 * HOUR_MS;
  await record.count(payment(1, 40n));
  nowMs -= 59_000;
  expect(await checkRecord(record)).toEqual({ ready: true, detail: "ok" });
  nowMs = START_MS;
  expect(await checkRecord(record)).toEqual({
    ready: true,
    detail: "the record is ahead of the clock by 7200 seconds",
  });
  await record.close();
  const again = await openRecord();
  expect(again.aheadMs()).toBe(2 * HOUR_MS);
  await mkdir(`${path}.next`);
  expect(await checkRecord(again)).toEqual({ ready: false, detail: `${path} cannot be written (EISDIR)` });
  await again.close();
});

test("does not let two concurrent requests both use the remaining daily limit", async () => {
  const record = await openRecord();
  const sums = await Promise.all([1, 2, 3, 4].map(async (nonce) => await record.count(payment(nonce, 40n))));
  expect(sums).toEqual([40n, 80n, 120n, 120n]);
  await record.close();
});

/** Replaces the next call of a method of any open file. */
function mockNextCall(
  method: "appendFile" | "datasync",
  act: (file: FileHandle, data: unknown) => Promise<void>,
) {
  vi.spyOn(prototype, method).mockImplementationOnce(async function (this: FileHandle, data?: unknown) {
    await act(this, data);
  });
}
