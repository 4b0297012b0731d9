import type { BlockRef } from "@causeway/chains";
import type { ScannedBlock } from "../ports/reads.ts";

/** How far the watcher of a chain is behind the newest block. */
export interface ScanLag {
  readonly blocks: bigint;
  /** Between the newest block that was scanned and the newest block, by their own timestamps. */
  readonly seconds: number;
  /** Deposits are seen much later than usual, or not at all. */
  readonly isBehind: boolean;
}

/** A scan may be so many block times behind, and at least so many seconds. */
const MAX_BLOCK_TIMES = 10;
const MIN_SECONDS = 30;

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
