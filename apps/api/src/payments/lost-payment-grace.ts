import type { RequestRecord } from "../db/records.port.ts";
import type { LaneState } from "../db/reads.port.ts";
import type { WorkerServices } from "../db/services.port.ts";
import type { JournalEntry } from "./payment-journal.port.ts";

/** Minimum time that a held lane waits for the missing rows of a lost payment's leg. */
const MIN_GRACE_MS = 600_000;

/**
 * When the lane began to wait for its lost payments, ms since epoch. Stores the time on the first call, so
 * that the wait begins when the loss is noticed, however old the payments are.
 */
export async function noteHeldSince(
  { clock, uow }: Pick<WorkerServices, "clock" | "uow">,
  { chainId, sender }: Pick<JournalEntry["plan"], "chainId" | "sender">,
  { heldSinceMs }: LaneState,
): Promise<number> {
  if (heldSinceMs !== undefined) return heldSinceMs;
  const nowMs = clock.nowMs();
  await uow.run((tx) => tx.lanes.noteHeld(chainId, sender, nowMs));
  return nowMs;
}

/**
 * Whether the missing rows of a lost payment's leg may still be restored: for ten minutes after the lane was
 * held, and until the payment's chain and the origin chain are scanned up to that time.
 */
export async function mayBeRestored(
  { clock, reads, chains }: Pick<WorkerServices, "clock" | "reads" | "chains">,
  { plan, atMs }: JournalEntry,
  record: RequestRecord | undefined,
  heldSinceMs: number,
): Promise<boolean> {
  // If a restored backup contains an earlier hold of the lane, its time can precede the payment.
  const sinceMs = Math.max(heldSinceMs, atMs);
  if (clock.nowMs() - sinceMs < MIN_GRACE_MS) return true;
  const scanned = await reads.scannedBlocks();
  const sources = [plan.chainId, ...(record === undefined ? [] : [record.terms.origin.chainId])];
  return sources.some((chainId) => {
    const block = scanned.get(chainId);
    // A chain that was removed from the configuration is not read.
    const isRead = chains.profile(chainId) !== undefined && block !== undefined;
    return isRead && Number(block.timestamp) * 1000 < sinceMs;
  });
}
