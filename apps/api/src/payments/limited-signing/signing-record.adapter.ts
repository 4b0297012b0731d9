import { open, rename, stat, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import type { SigningRecord } from "./signing-rules.port.ts";

const WINDOW_MS = 24 * 3_600_000;
/** A nonce that was last signed before this counts anew. */
const KEPT_MS = 30 * WINDOW_MS;

interface Line {
  readonly atMs: number;
  /** Chain id and nonce. */
  readonly id: string;
  /** The highest value of this nonce. */
  readonly usd: bigint;
}

/**
 * Opens the record of a signer process, or creates it. Only the process that opened it last can count: it
 * replaces the file, which others notice.
 * @throws Error when it cannot be read or written
 */
export async function openSigningRecord(
  path: string,
  nowMs: () => number,
): Promise<SigningRecord & { readonly isNew: boolean }> {
  const file = await open(path, "a+", 0o600);
  const text = await file.readFile("utf8").finally(async () => await file.close());
  const state = replay(readLines(path, text));
  // Also drops a last line that a crash cut off: what it counted was never signed.
  const kept = await rewrite(path, state.kept());
  let size = kept.size;
  let last: Promise<unknown> = Promise.resolve();

  async function count({ chainId, nonce, usd, maxUsd }: Parameters<SigningRecord["count"]>[0]) {
    const line = { atMs: Math.max(nowMs(), state.newestMs()), id: `${chainId} ${nonce}`, usd };
    const sum = state.sumWith(line);
    if (sum.more === 0n || sum.usd > maxUsd) return sum.usd;
    const found = await stat(path);
    if (found.size !== size || found.ino !== kept.inode)
      throw new Error(`${path} was written by another process: only one signer process may use it`);
    const bytes = Buffer.from(textOf(line));
    // Before the signature: a crash after it must not forget what was signed.
    await kept.file.appendFile(bytes);
    size += bytes.byteLength;
    await kept.file.datasync();
    state.add(line);
    return sum.usd;
  }

  return {
    isNew: text === "",
    async count(signed) {
      const counting = last.then(async () => await count(signed));
      last = counting.catch(() => undefined);
      return await counting;
    },
    close: async () => await kept.file.close(),
  };
}

function textOf({ atMs, id, usd }: Line): string {
  return `${atMs} ${id} ${usd}\n`;
}

function readLines(path: string, text: string): readonly Line[] {
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  return whole
    .split("\n")
    .slice(0, -1)
    .map((line, at) => {
      const [, atMs, id, usd] = /^(\d{1,15}) (\d+ \d+) (\d+)$/.exec(line) ?? [];
      if (atMs === undefined || id === undefined || usd === undefined)
        throw new Error(
          `${path}:${at + 1} is damaged; restore the file, or delete it to restart the 24-hour limit`,
        );
      return { atMs: Number(atMs), id, usd: BigInt(usd) };
    });
}

/** Replaces the file by these lines. */
async function rewrite(
  path: string,
  lines: readonly Line[],
): Promise<{ readonly file: FileHandle; readonly size: number; readonly inode: number }> {
  const bytes = Buffer.from(lines.map(textOf).join(""));
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
    /** The lines that still matter. Not by the clock: a wrong one must not drop what was signed today. */
    kept: () => lines.filter(({ atMs }) => atMs > newestMs - KEPT_MS),
  };
}
