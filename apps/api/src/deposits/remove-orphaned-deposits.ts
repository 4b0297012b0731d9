import type { BlockRef, TrailChange } from "@causeway/chains";
import type { Hex, RequestId } from "@causeway/domain";
import type { DepositRecord } from "../db/records.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { replaceOrphaned } from "./record-deposits.ts";
import type { Reading } from "./deposit-reading.ts";
import type { RecordingServices } from "./apply-deposit.ts";
import { transition } from "../requests/index.ts";

/** Blocks read after `trail`, and the blocks that they replace. */
export interface Advance {
  readonly trail: readonly BlockRef[];
  readonly change: Exclude<TrailChange, { kind: "unchanged" }>;
}

/**
 * Acts on deposits that were marked as orphaned. Deposits that were mined again are not among them: they were
 * moved to their new block before.
 */
export async function followOrphanedDeposits(
  services: RecordingServices,
  tx: Tx,
  reading: Reading,
  orphaned: readonly DepositRecord[],
): Promise<void> {
  const { chain } = reading;
  const requestIds = new Set(orphaned.flatMap(({ requestId }) => requestId ?? []));
  const records = requestIds.size === 0 ? undefined : await tx.requests.lockAll([...requestIds]);
  for (const deposit of orphaned) {
    const { requestId, refundState } = deposit;
    const isCurrentDeposit =
      requestId !== undefined && records?.get(requestId)?.state.depositId === deposit.id;
    if (!isCurrentDeposit && refundState === "none" && reading.isTooSmall?.(deposit) === true) continue;
    const facts = { chain: chain.name, txHash: deposit.txHash, depositId: deposit.id, requestId };
    tx.events.alarm("deposit_removed", facts);
    // While its refund is in progress, the funds may be returned twice; reverting the state would hide that.
    if (refundState !== "none") tx.events.alarm("deposit_exposed", facts);
    else if (isCurrentDeposit && requestId !== undefined)
      await removeOwnOrphan(services, tx, reading, deposit, requestId);
  }
}

/**
 * Removes an orphaned deposit from its request. Nothing was paid for the deposit; if it is mined again, it is
 * judged again.
 */
async function removeOwnOrphan(
  services: RecordingServices,
  tx: Tx,
  reading: Reading,
  deposit: DepositRecord,
  requestId: RequestId,
): Promise<void> {
  const record = await tx.requests.lock(requestId);
  if (record === undefined) return;
  const { decision, record: next } = await transition(
    services,
    tx,
    record,
    { kind: "depositRemoved", depositId: deposit.id },
    {
      inTxHashes: record.inTxHashes.filter((hash) => hash !== deposit.txHash),
    },
  );
  if (decision.kind === "already")
    tx.events.alarm("deposit_exposed", {
      chain: reading.chain.name,
      txHash: deposit.txHash,
      depositId: deposit.id,
      requestId,
      state: record.state.name,
    });
  await replaceOrphaned(services, tx, reading, next);
}

/** The range of heights at which blocks may have been replaced, and the new hashes there. */
export function replacedBlocks({
  trail,
  change,
}: Advance): [aboveBlock: bigint, upToBlock: bigint, canonicalHashes: Hex[]] {
  const numbers = change.append.map((block) => block.number);
  const [first = 0n, last = first] = [numbers[0], numbers.at(-1)];
  const oldTip = trail.at(-1)?.number ?? 0n;
  const upTo = change.orphanedFrom === undefined || oldTip < last ? last : oldTip;
  return [first - 1n, upTo, change.append.map((block) => block.hash)];
}
