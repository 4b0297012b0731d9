import type { BlockRange, BlockRef, DepositFact } from "@causeway/chains";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { Services } from "../db/services.port.ts";
import { creditDueTopUps, storeTopUps } from "../balances/index.ts";
import { sliceDeposits } from "./deposit-slices.ts";
import { actOnDeposits } from "./record-deposits.ts";
import { storeDeposits } from "./store-deposits.ts";
import type { MovedDeposit, Reading } from "./deposit-reading.ts";
import type { RecordingServices } from "./apply-deposit.ts";
import { tooSmallOn } from "./too-small-deposits.ts";

type Needs = Pick<Services, "events" | "uow" | "reads" | "signer"> & RecordingServices;
type ScannedChain = Pick<ConnectedChain, "chain" | "connection" | "pulse">;

/** Minimum number of final blocks to reread together: all of them cost only a few calls. */
const MIN_BLOCKS = 16n;

/**
 * Reads the logs of final blocks a second time, and records what a lagging node missed or misread the first
 * time. Never delays new blocks. Idempotent, in any number of processes.
 * @param trail canonical blocks as the watcher knows them
 * @param recheckedBefore what the last call returned: until enough blocks follow it, nothing is read
 * @returns the last block that was read again; undefined if the watcher has not passed all of them
 * @throws RpcFault
 */
export async function recheckFinalBlocks(
  services: Needs,
  connected: ScannedChain,
  trail: readonly BlockRef[],
  recheckedBefore?: bigint,
): Promise<bigint | undefined> {
  const { chain } = connected;
  const lowest = trail[0];
  const head = trail.at(-1);
  if (lowest === undefined || head === undefined) return recheckedBefore;
  const newestFinal = head.number - BigInt(chain.finalityBlocks) + 1n;
  if (recheckedBefore !== undefined && newestFinal - recheckedBefore < MIN_BLOCKS) return recheckedBefore;
  const stored = await services.reads.recheckedBlock(chain.id);
  let recheckedUpTo = stored ?? lowest.number - 1n;
  while (newestFinal - recheckedUpTo >= MIN_BLOCKS) {
    const limit = recheckedUpTo + BigInt(services.enginePolicy.maxScanBlocks);
    const to = newestFinal < limit ? newestFinal : limit;
    const range = { from: recheckedUpTo + 1n, to, hashes: hashesOf(trail) };
    if (!(await recheck(services, connected, range, head))) return undefined;
    recheckedUpTo = to;
  }
  return recheckedUpTo;
}

/** @returns false if the watcher has not passed the range: nothing is stored */
async function recheck(
  services: Needs,
  connected: ScannedChain,
  range: BlockRange,
  head: BlockRef,
): Promise<boolean> {
  const { chain, connection } = connected;
  const isHome = chain.id === services.appBalance.chainId;
  const [facts, topUps] = await Promise.all([
    connection.reader.depositsIn(range),
    isHome ? connection.reader.tokenTopUpsIn(services.signer.address, range) : [],
  ]);
  const seenAtMs = services.clock.nowMs();
  const reading = { chain, headNumber: head.number, seenAtMs, isTooSmall: tooSmallOn(services, connected) };
  let remaining: readonly DepositFact[] = facts;
  do {
    const { now, later } = sliceDeposits(remaining, reading.isTooSmall);
    const isLast = later.length === 0;
    const missed = await services.uow.run(async (tx): Promise<readonly MovedDeposit[] | undefined> => {
      const cursor = await tx.trail.lockCursor(chain.id);
      // Only blocks that the watcher has passed are read again.
      if (cursor === undefined || cursor.number < range.to) return undefined;
      const moved = await storeDeposits(tx, reading, now);
      if (isLast) await storeTopUps(services, tx, topUps, seenAtMs);
      await actOnDeposits(services, tx, reading, moved);
      if (isLast && isHome) await creditDueTopUps(services, tx, head.number);
      if (isLast) await tx.trail.setRechecked(chain.id, range.to);
      // All other deposits were known, and only their attestability changed.
      return moved.filter(({ deposit }) => deposit.seenAtMs === seenAtMs);
    });
    if (missed === undefined) return false;
    alarmMissed(services, reading, missed);
    remaining = later;
  } while (remaining.length > 0);
  return true;
}

/** Raises one alarm per deposit, but one per transaction for all deposits that are too small to refund. */
function alarmMissed(
  services: Pick<Needs, "events">,
  { chain, isTooSmall }: Reading,
  missed: readonly MovedDeposit[],
): void {
  const small = new Set<string>();
  for (const { fact, deposit } of missed) {
    if (isTooSmall?.(fact) === true) {
      if (small.has(fact.txHash)) continue;
      small.add(fact.txHash);
    }
    services.events.alarm("deposit_missed", {
      chain: chain.name,
      txHash: fact.txHash,
      block: fact.blockNumber,
      depositId: deposit.id,
      requestId: deposit.requestId,
    });
  }
}

function hashesOf(trail: readonly BlockRef[]): BlockRange["hashes"] {
  return new Map(trail.map(({ number, hash }) => [number, hash]));
}
