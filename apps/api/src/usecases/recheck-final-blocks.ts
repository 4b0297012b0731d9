import type { BlockRange, BlockRef } from "@causeway/chains";
import type { ConnectedChain } from "../ports/chains.ts";
import type { Services } from "../ports/services.ts";
import { creditDueTopUps, storeTopUps } from "./app-balance/record-top-ups.ts";
import { actOnDeposits, storeDeposits } from "./record-deposits.ts";
import type { RecordingServices } from "./record-deposits.ts";

type Needs = Pick<Services, "uow" | "reads" | "signer"> & RecordingServices;

/** Final blocks are read again so many at once: a few calls for all of them. */
const BLOCKS_AT_ONCE = 16n;

/**
 * Reads the logs of final blocks a second time and records what the first reading did not see, or saw wrongly, because a node that lagged answered it.
 * Never in the way of new blocks; may run any number of times, in any number of processes.
 * @param trail canonical blocks as the watcher knows them. @throws RpcFault
 */
export async function recheckFinalBlocks(
  services: Needs,
  connected: Pick<ConnectedChain, "chain" | "connection">,
  trail: readonly BlockRef[],
): Promise<void> {
  const { chain } = connected;
  const lowest = trail[0];
  const head = trail.at(-1);
  if (lowest === undefined || head === undefined) return;
  const final = head.number - BigInt(chain.finalityBlocks) + 1n;
  const stored = await services.reads.recheckedBlock(chain.id);
  let done = stored ?? lowest.number - 1n;
  while (final - done >= BLOCKS_AT_ONCE) {
    const limit = done + BigInt(services.enginePolicy.maxScanBlocks);
    const to = final < limit ? final : limit;
    await recheck(services, connected, { from: done + 1n, to, hashes: hashesOf(trail) }, head);
    done = to;
  }
}

async function recheck(
  services: Needs,
  { chain, connection }: Pick<ConnectedChain, "chain" | "connection">,
  range: BlockRange,
  head: BlockRef,
): Promise<void> {
  const isHome = chain.id === services.appBalance.chainId;
  const [facts, topUps] = await Promise.all([
    connection.reader.depositsIn(range),
    isHome ? connection.reader.tokenTopUpsIn(services.signer.address, range) : [],
  ]);
  const seenAtMs = services.clock.nowMs();
  const missed = await services.uow.run(async (tx) => {
    const cursor = await tx.trail.lockCursor(chain.id);
    // Only what the watcher has passed is read a second time.
    if (cursor === undefined || cursor.number < range.to) return [];
    const reading = { chain, headNumber: head.number, seenAtMs };
    const moved = await storeDeposits(tx, reading, facts);
    if (isHome) await storeTopUps(services, tx, topUps, seenAtMs);
    await actOnDeposits(services, tx, reading, moved);
    if (isHome) await creditDueTopUps(services, tx, head.number);
    await tx.trail.setRechecked(chain.id, range.to);
    // The rest was known: only whether oracles can attest it was read differently this time.
    return moved.filter(({ deposit }) => deposit.seenAtMs === seenAtMs);
  });
  for (const { fact, deposit } of missed)
    services.events.alarm("deposit_missed", {
      chain: chain.name,
      txHash: fact.txHash,
      block: fact.blockNumber,
      depositId: deposit.id,
      requestId: deposit.requestId,
    });
}

function hashesOf(trail: readonly BlockRef[]): BlockRange["hashes"] {
  return new Map(trail.map(({ number, hash }) => [number, hash]));
}
