import type { BlockRef } from "@causeway/chains";
import type { ScannedBlock } from "../db/reads.port.ts";

/** How late the deposits of a chain are seen. */
export interface Lag {
  readonly seconds: number;
  /** Deposits are seen much later than usual, or not at all. */
  readonly isBehind: boolean;
}

/** How far the watcher is behind the newest block. `seconds` is the difference of the block timestamps. */
export interface ScanLag extends Lag {
  readonly blocks: bigint;
}

/** A scan is behind when it exceeds both limits. */
const MAX_BLOCK_TIMES = 10;
const MIN_SECONDS = 30;
/** How long the ledger of a chain without blocks may lag while late transfers are waited for. */
const MAX_UNREAD_SECONDS = 300;

/** @param unreadSince when the oldest known but unread transfer was made, in seconds since the epoch */
export function unreadLag(nowMs: number, unreadSince: bigint | undefined): Lag {
  if (unreadSince === undefined) return { seconds: 0, isBehind: false };
  const seconds = Math.max(0, Math.round(nowMs / 1_000) - Number(unreadSince));
  return { seconds, isBehind: seconds > MAX_UNREAD_SECONDS };
}

/** Undefined without a newest block or a scanned one. */
export function scanLag(
  { blockTimeSeconds }: { readonly blockTimeSeconds: number },
  head: Pick<BlockRef, "number" | "timestamp"> | undefined,
  scanned: ScannedBlock | undefined,
): ScanLag | undefined {
  if (head === undefined || scanned === undefined) return undefined;
  if (head.number <= scanned.number) return { blocks: 0n, seconds: 0, isBehind: false };
  const blocks = head.number - scanned.number;
  const seconds = Math.max(0, Number(head.timestamp - scanned.timestamp));
  // A single block may follow long after its parent; it just has not been scanned yet.
  const isBehind = blocks > 1n && seconds > Math.max(MIN_SECONDS, MAX_BLOCK_TIMES * blockTimeSeconds);
  return { blocks, seconds, isBehind };
}
