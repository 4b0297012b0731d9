import type { Hex32 } from "@causeway/domain";
import type { LedgerTransfer } from "@causeway/families/hyperliquid";

/**
 * Milliseconds before the newest known entry that are read again: an index need not report entries in the
 * order in which they happened.
 */
export const OVERLAP_MS = 60_000n;

/** How far a ledger was read. */
export interface LedgerCursor {
  /** ms; everything before it, minus {@link OVERLAP_MS}, was read. */
  readonly time: bigint;
  /** The highest block seen. */
  readonly block: bigint;
  /** Entries within the overlap that were read. */
  readonly seen: readonly Hex32[];
}

export function writeCursor({ time, block, seen }: LedgerCursor): string {
  return [time, block, seen.join(",")].join(" ");
}

/** @throws RangeError for a text that is not such a cursor */
export function readCursor(text: string): LedgerCursor {
  const [, time, block, seen] = /^(\d+) (\d+) ((?:0x[0-9a-f]{64}(?:,|$))*)$/.exec(text) ?? [];
  if (time === undefined || block === undefined || seen === undefined)
    throw new RangeError("invariant violated: not a Hyperliquid cursor");
  return { time: BigInt(time), block: BigInt(block), seen: seen === "" ? [] : (seen.split(",") as Hex32[]) };
}

/** The cursor after the entries of `read`, at most at `upTo` (ms). Those of `unread` stay after it. */
export function advanceCursor(
  cursor: LedgerCursor,
  read: readonly (LedgerTransfer & { readonly block: bigint })[],
  unread: readonly LedgerTransfer[],
  upTo: bigint,
): LedgerCursor {
  const times = unread.map(({ time }) => time);
  const first = times.reduce((min, time) => (time < min ? time : min), upTo);
  // Never decreases, because entries after it would needlessly be reported again.
  const time = first > cursor.time ? first : cursor.time;
  const fresh = read.filter((entry) => entry.time >= time - OVERLAP_MS).map(({ hash }) => hash);
  const block = read.reduce((max, entry) => (entry.block > max ? entry.block : max), cursor.block);
  return { time, block, seen: [...new Set([...cursor.seen, ...fresh])] };
}
