import type { Address } from "@causeway/domain";
import { open, rename, stat, unlink, writeFile, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { lockFile, type FileLock } from "./record-lock.adapter.ts";
import type { SigningRecord } from "./signing-rules.port.ts";

const WINDOW_MS = 24 * 3_600_000;
/** A nonce whose newest signature is older than this (ms) counts anew. */
const KEPT_MS = 30 * WINDOW_MS;
/** Clock corrections smaller than this are routine. */
const TOLERATED_AHEAD_MS = 60_000;

interface Line {
  readonly atMs: number;
  /** Chain id and nonce. */
  readonly id: string;
  /** The highest value signed for this nonce, USD with 18 decimals. */
  readonly usd: bigint;
}

/**
 * Opens the record of a signer process, or creates it. Until it is closed, no other process can open it.
 * @param account whose signatures it counts: nonces of another account must not pass for its own
 * @throws Error when another process uses it, it counts another account, or it cannot be read or written
 */
export async function openSigningRecord(
  path: string,
  account: Address,
  nowMs: () => number,
): Promise<SigningRecord & { readonly isNew: boolean }> {
  const lock = await lockFile(path);
  try {
    return await openLocked(path, account, nowMs, lock);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function openLocked(path: string, account: Address, nowMs: () => number, lock: FileLock) {
  const existing = await open(path, "a+", 0o600);
  const text = await existing.readFile("utf8").finally(async () => await existing.close());
  const sums = replay(readLines(path, account, text));
  // Also drops a last line that a crash cut off: its payment was never signed.
  const { file, inode, ...kept } = await rewrite(path, headerOf(account) + sums.kept().map(textOf).join(""));
  let size = kept.size;
  let isTorn = false;
  let lastRun: Promise<unknown> = Promise.resolve();

  async function checkFile(): Promise<void> {
    if (isTorn) await file.truncate(size);
    isTorn = false;
    const current = await stat(path);
    if (current.size !== size || current.ino !== inode || !(await lock.isHeld()))
      throw new Error(
        `${path} was written by another process: only one signer process may use it. Restart this one`,
      );
  }

  /** Call before signing: a crash after the signature must not forget the signed amount. */
  async function append(line: Line): Promise<void> {
    await checkFile();
    const bytes = Buffer.from(textOf(line));
    try {
      await file.appendFile(bytes);
      await file.datasync();
    } catch (error) {
      // On a full disk, a part of the line may be written.
      isTorn = true;
      throw new Error(`${path} cannot be written (${codeOf(error)}); nothing is signed until it can`, {
        cause: error,
      });
    }
    size += bytes.byteLength;
    // A file that was replaced in the meantime does not have the line.
    await checkFile();
  }

  async function count({ chainId, nonce, usd, maxUsd }: Parameters<SigningRecord["count"]>[0]) {
    const line = { atMs: Math.max(nowMs(), sums.newestMs()), id: `${chainId} ${nonce}`, usd };
    const sum = sums.sumWith(line);
    if (sum.more === 0n || sum.usd > maxUsd) return sum.usd;
    await append(line);
    sums.add(line);
    return sum.usd;
  }

  async function check(): Promise<void> {
    await checkFile();
    try {
      await writeFile(`${path}.next`, Buffer.alloc(4_096), { mode: 0o600 });
    } catch (error) {
      throw new Error(`${path} cannot be written (${codeOf(error)})`, { cause: error });
    } finally {
      await unlink(`${path}.next`).catch(() => undefined);
    }
  }

  async function runInTurn<T>(work: () => Promise<T>): Promise<T> {
    const run = lastRun.then(work);
    lastRun = run.catch(() => undefined);
    return await run;
  }

  return {
    isNew: text === "",
    count: async (transaction: Parameters<SigningRecord["count"]>[0]) =>
      await runInTurn(async () => await count(transaction)),
    check: async () => await runInTurn(check),
    aheadMs: () => {
      const aheadMs = sums.newestMs() - nowMs();
      return aheadMs > TOLERATED_AHEAD_MS ? aheadMs : 0;
    },
    close: async () => {
      await file.close();
      await lock.release();
    },
  };
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error);

const headerOf = (account: Address): string => `account ${account.toLowerCase()}\n`;

const LINE = /^(\d{1,15}) (\d+ \d+) (\d+)$/;

function textOf({ atMs, id, usd }: Line): string {
  return `${atMs} ${id} ${usd}\n`;
}

function readLines(path: string, account: Address, text: string): readonly Line[] {
  if (text === "") return [];
  const damaged = (lineNumber: number): Error =>
    new Error(
      `${path}:${lineNumber} is damaged; restore the file, or delete it to restart the 24-hour limit`,
    );
  const [header = "", ...lines] = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
  const [, recordedAccount] = /^account (0x[0-9a-f]{40})$/.exec(header) ?? [];
  if (recordedAccount === undefined && LINE.test(header))
    throw new Error(
      `${path} does not begin with the account whose signatures it counts; if it is the record of ${account}, insert the line "${headerOf(account).trim()}" at its beginning`,
    );
  if (recordedAccount === undefined) throw damaged(1);
  if (recordedAccount !== account.toLowerCase())
    throw new Error(
      `${path} counts the signatures of ${recordedAccount}, not of ${account}; give each key a file of its own, and keep the file of ${recordedAccount}`,
    );
  return lines.slice(0, -1).map((line, index) => {
    const [, atMs, id, usd] = LINE.exec(line) ?? [];
    if (atMs === undefined || id === undefined || usd === undefined) throw damaged(index + 2);
    return { atMs: Number(atMs), id, usd: BigInt(usd) };
  });
}

/** Replaces the file's text. */
async function rewrite(
  path: string,
  text: string,
): Promise<{ readonly file: FileHandle; readonly size: number; readonly inode: number }> {
  const bytes = Buffer.from(text);
  const next = await open(`${path}.next`, "w", 0o600);
  await next.writeFile(bytes);
  await next.sync();
  await next.close();
  await rename(`${path}.next`, path);
  const folder = await open(dirname(path));
  await folder.sync();
  await folder.close();
  const file = await open(path, "a", 0o600);
  return { file, size: bytes.byteLength, inode: (await file.stat()).ino };
}

/** Adds up lines, which are sorted by age, the oldest first. */
function replay(lines: readonly Line[]) {
  /** The line with the highest value of each nonce, the oldest first. */
  const highest = new Map<string, Line>();
  let window: { readonly atMs: number; readonly more: bigint }[] = [];
  let windowUsd = 0n;
  let newestMs = 0;

  function dropOld(nowMs: number): void {
    const firstKept = window.findIndex(({ atMs }) => atMs > nowMs - WINDOW_MS);
    const expired = firstKept === -1 ? window : window.slice(0, firstKept);
    if (expired.length === 0) return;
    window = firstKept === -1 ? [] : window.slice(firstKept);
    for (const { more } of expired) windowUsd -= more;
    for (const [id, { atMs }] of highest) {
      if (atMs > nowMs - KEPT_MS) break;
      highest.delete(id);
    }
  }

  function sumWith({ atMs, id, usd }: Line): { readonly usd: bigint; readonly more: bigint } {
    dropOld(atMs);
    const countedUsd = highest.get(id)?.usd ?? 0n;
    const more = usd > countedUsd ? usd - countedUsd : 0n;
    return { usd: windowUsd + more, more };
  }

  function add(line: Line): void {
    const { more, usd } = sumWith(line);
    newestMs = Math.max(newestMs, line.atMs);
    if (more === 0n) return;
    window.push({ atMs: line.atMs, more });
    windowUsd = usd;
    highest.delete(line.id);
    highest.set(line.id, line);
  }

  for (const line of lines) add(line);
  return {
    sumWith,
    add,
    newestMs: () => newestMs,
    /** The lines that still matter. Does not use the clock: a wrong one must not drop today's signatures. */
    kept: () => lines.filter(({ atMs }) => atMs > newestMs - KEPT_MS),
  };
}
