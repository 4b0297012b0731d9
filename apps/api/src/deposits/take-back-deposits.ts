import type { BlockRef, TrailChange } from "@causeway/chains";
import type { Hex, RequestId } from "@causeway/domain";
import type { DepositRecord } from "../db/records.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { replaceVanished } from "./record-deposits.ts";
import type { Reading, RecordingServices } from "./record-deposits.ts";
import { transition } from "../requests/transition.ts";

/** Blocks that were read after `known`, and those that they replace. */
export interface Advance {
  readonly known: readonly BlockRef[];
  readonly change: Exclude<TrailChange, { kind: "unchanged" }>;
}

/**
 * What vanished blocks said is taken back: deposits in them are not there any more (those mined again were
 * moved to their new block before this).
 */
export async function takeBackDeposits(
  services: RecordingServices,
  tx: Tx,
  reading: Reading,
  advance: Advance,
): Promise<void> {
  const { chain } = reading;
  const gone = await tx.deposits.removeOrphaned(chain.id, ...replacedBlocks(advance));
  const requestIds = new Set(gone.flatMap(({ requestId }) => requestId ?? []));
  const records = requestIds.size === 0 ? undefined : await tx.requests.lockAll([...requestIds]);
  for (const deposit of gone) {
    const { requestId, refundState } = deposit;
    const isOwn = requestId !== undefined && records?.get(requestId)?.state.depositId === deposit.id;
    if (!isOwn && refundState === "none" && reading.isTooSmall?.(deposit) === true) continue;
    const facts = { chain: chain.name, txHash: deposit.txHash, depositId: deposit.id, requestId };
    tx.events.alarm("deposit_removed", facts);
    // Once its refund is under way the money may come back twice; taking the state back would hide that.
    if (refundState !== "none") tx.events.alarm("deposit_exposed", facts);
    else if (isOwn && requestId !== undefined) await takeBackOwn(services, tx, reading, deposit, requestId);
  }
}

/** Nothing was sent for it, and it is not in the depository any more: should it return, it is judged anew. */
async function takeBackOwn(
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
  await replaceVanished(services, tx, reading, next);
}

/** Above and up to which heights blocks may have been replaced, and the hashes that stand there now. */
export function replacedBlocks({
  known,
  change,
}: Advance): [aboveBlock: bigint, upToBlock: bigint, canonicalHashes: Hex[]] {
  const numbers = change.append.map((block) => block.number);
  const [first = 0n, last = first] = [numbers[0], numbers.at(-1)];
  const oldTip = known.at(-1)?.number ?? 0n;
  const upTo = change.orphanedFrom === undefined || oldTip < last ? last : oldTip;
  return [first - 1n, upTo, change.append.map((block) => block.hash)];
}
