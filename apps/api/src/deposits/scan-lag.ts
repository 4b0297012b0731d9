import type { BlockRef } from "@causeway/chains";
import type { ScannedBlock } from "../db/reads.port.ts";

/** How late the deposits of a chain are seen. */
export interface Lag {
  readonly seconds: number;
  /** Deposits are seen much later than usual, or not at all. */
  readonly isBehind: boolean;
}

/**
 * How far the watcher of a chain is behind the newest block; seconds between the newest block that was
 * scanned and it, by their own timestamps.
 */
export interface ScanLag extends Lag {
  readonly blocks: bigint;
}

/** A scan may be so many block times behind, and at least so many seconds. */
const MAX_BLOCK_TIMES = 10;
const MIN_SECONDS = 30;
/** The ledger of a chain without blocks to follow may be read so late: what it shows late is waited for. */
const MAX_UNREAD_SECONDS = 300;

/**
 * @param unreadSince when the oldest transfer was made that is known of and was not read, seconds since epoch
 */
export function unreadLag(nowMs: number, unreadSince: bigint | undefined): Lag {
  if (unreadSince === undefined) return { seconds: 0, isBehind: false };
  const seconds = Math.max(0, Math.round(nowMs / 1_000) - Number(unreadSince));
  return { seconds, isBehind: seconds > MAX_UNREAD_SECONDS };
}

/** Undefined when there is no newest block, or none was ever scanned. */
export function scanLag(
  { blockTimeSeconds }: { readonly blockTimeSeconds: number },
  head: Pick<BlockRef, "number" | "timestamp"> | undefined,
  scanned: ScannedBlock | undefined,
): ScanLag | undefined {
  if (head === undefined || scanned === undefined) return undefined;
  if (head.number <= scanned.number) return { blocks: 0n, seconds: 0, isBehind: false };
  const blocks = head.number - scanned.number;
  const seconds = Math.max(0, Number(head.timestamp - scanned.timestamp));
  // A single block may follow long after its parent; it was just not scanned yet.
  const isBehind = blocks > 1n && seconds > Math.max(MIN_SECONDS, MAX_BLOCK_TIMES * blockTimeSeconds);
  return { blocks, seconds, isBehind };
}
