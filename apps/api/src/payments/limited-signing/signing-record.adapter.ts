import type { Address } from "@causeway/domain";
import { open, rename, stat, unlink, writeFile, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { lockFile, type FileLock } from "./record-lock.adapter.ts";
import type { SigningRecord } from "./signing-rules.port.ts";

const WINDOW_MS = 24 * 3_600_000;
/** A nonce that was last signed before this counts anew. */
const KEPT_MS = 30 * WINDOW_MS;
/** Clock corrections smaller than this are routine. */
const TOLERATED_AHEAD_MS = 60_000;

interface Line {
  readonly atMs: number;
  /** Chain id and nonce. */
  readonly id: string;
  /** The highest value of this nonce. */
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
  const before = await open(path, "a+", 0o600);
  const text = await before.readFile("utf8").finally(async () => await before.close());
  const state = replay(readLines(path, account, text));
  // Also drops a last line that a crash cut off: its payment was never signed.
  const { file, inode, ...kept } = await rewrite(path, headerOf(account) + state.kept().map(textOf).join(""));
  let size = kept.size;
  let isTorn = false;
  let last: Promise<unknown> = Promise.resolve();

  async function checkFile(): Promise<void> {
    if (isTorn) await file.truncate(size);
    isTorn = false;
    const found = await stat(path);
    if (found.size !== size || found.ino !== inode || !(await lock.isHeld()))
      throw new Error(
        `${path} was written by another process: only one signer process may use it. Restart this one`,
      );
  }

  /** Before the signature: a crash after it must not forget the signed amount. */
  async function append(line: Line): Promise<void> {
    await checkFile();
    const bytes = Buffer.from(textOf(line));
    try {
      await file.appendFile(bytes);
      await file.datasync();
    } catch (error) {
      // A full disk may have taken a part of the line.
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
    const line = { atMs: Math.max(nowMs(), state.newestMs()), id: `${chainId} ${nonce}`, usd };
    const sum = state.sumWith(line);
    if (sum.more === 0n || sum.usd > maxUsd) return sum.usd;
    await append(line);
    state.add(line);
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

  async function inTurn<T>(act: () => Promise<T>): Promise<T> {
    const acting = last.then(act);
    last = acting.catch(() => undefined);
    return await acting;
  }

  return {
    isNew: text === "",
    count: async (signed: Parameters<SigningRecord["count"]>[0]) =>
      await inTurn(async () => await count(signed)),
    check: async () => await inTurn(check),
    aheadMs: () => {
      const aheadMs = state.newestMs() - nowMs();
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
  const damaged = (at: number): Error =>
    new Error(`${path}:${at} is damaged; restore the file, or delete it to restart the 24-hour limit`);
  const [header = "", ...lines] = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
  const [, found] = /^account (0x[0-9a-f]{40})$/.exec(header) ?? [];
  if (found === undefined && LINE.test(header))
    throw new Error(
      `${path} does not begin with the account whose signatures it counts; if it is the record of ${account}, insert the line "${headerOf(account).trim()}" at its beginning`,
    );
  if (found === undefined) throw damaged(1);
  if (found !== account.toLowerCase())
    throw new Error(
      `${path} counts the signatures of ${found}, not of ${account}; give each key a file of its own, and keep the file of ${found}`,
    );
  return lines.slice(0, -1).map((line, at) => {
    const [, atMs, id, usd] = LINE.exec(line) ?? [];
    if (atMs === undefined || id === undefined || usd === undefined) throw damaged(at + 2);
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

/** The sums of these lines, the oldest first. */
function replay(lines: readonly Line[]) {
  /** Per nonce, the line that counted most; the oldest first. */
  const highest = new Map<string, Line>();
  let window: { readonly atMs: number; readonly more: bigint }[] = [];
  let windowUsd = 0n;
  let newestMs = 0;

  function dropOld(nowMs: number): void {
    const from = window.findIndex(({ atMs }) => atMs > nowMs - WINDOW_MS);
    const gone = from === -1 ? window : window.slice(0, from);
    if (gone.length === 0) return;
    window = from === -1 ? [] : window.slice(from);
    for (const { more } of gone) windowUsd -= more;
    for (const [id, { atMs }] of highest) {
      if (atMs > nowMs - KEPT_MS) break;
      highest.delete(id);
    }
  }

  function sumWith({ atMs, id, usd }: Line): { readonly usd: bigint; readonly more: bigint } {
    dropOld(atMs);
    const before = highest.get(id)?.usd ?? 0n;
    const more = usd > before ? usd - before : 0n;
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
