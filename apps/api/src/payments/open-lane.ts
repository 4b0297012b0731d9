import type { Address } from "@causeway/domain";
import type { ConnectedChain } from "../chains/chains.port.ts";
import { laneSigners } from "../chains/index.ts";
import type { LaneState } from "../db/reads.port.ts";
import type { WorkerServices } from "../db/services.port.ts";
import { explainAll, explainFrom, whyGapStays } from "./explain-nonce-gap.ts";
import { readMark, openReconciled, restoreLost } from "./restore-lost.ts";

/** Blocks for which a lane without a journal must be quiet, at least. */
const MIN_QUIET_BLOCKS = 3;

/**
 * Opens every sender's lane and raises it past nonces that the chain has used: at startup and in every round,
 * since the key may have been used elsewhere. Restores payments that a failover has lost, and holds the lane
 * until all of them are known. Also follows lanes of configured former keys.
 * @throws RpcFault
 */
export async function openLane(services: WorkerServices, connected: ConnectedChain): Promise<void> {
  for (const { address } of laneSigners(services)) await raiseLane(services, connected, address, true);
  for (const { address } of services.formerSigners ?? [])
    await raiseLane(services, connected, address, false);
}

async function raiseLane(
  services: WorkerServices,
  connected: ConnectedChain,
  sender: Address,
  isCurrent: boolean,
): Promise<void> {
  const { chain, connection } = connected;
  const laneKey = { chainId: chain.id, sender };
  const journalMark = await readMark(services, laneKey);
  if (journalMark === undefined) return;
  const { mark } = journalMark;
  const used = await connection.reader.nonce(sender, "latest", "highest");
  const stored = await services.reads.lane(chain.id, sender);
  if (stored === undefined && !isCurrent) return;
  const whyGapRemains = async (from: number, to: number): Promise<string | undefined> => {
    const lane = stored && { ...stored, nextNonce: from };
    return lane && (await whyGapStays(services, connected, { sender, lane, to, used, isCurrent }));
  };
  const lost = stored && (await restoreLost(services, laneKey, stored, mark, whyGapRemains));
  if (lost?.kind === "later") return reportHeld(services, connected, sender, lost.why);
  const lane = lost && (lost.lane ?? (await services.reads.lane(chain.id, sender)));
  // What the former database server stored about these nonces is not known yet.
  if (lane?.isServerNew === true) return;
  if (lane !== undefined && used > lane.nextNonce) {
    const explain = lane.isReconciled ? explainFrom : explainAll;
    const explained = await explain(services, connected, { sender, lane, used });
    // Nonces of lost payments are not skipped: nothing is planned until their rows are restored.
    if (explained === undefined || !explained.isComplete || (isCurrent && explained.hasLost)) return;
  }
  const why = lane && (await whyStillHeld(services, connected, { sender, lane, mark, used }));
  if (why !== undefined) return reportHeld(services, connected, sender, why);
  // One endpoint's false count must not decide where a new lane begins.
  const firstNonce = lane === undefined ? await connection.reader.nonce(sender, "latest") : used;
  await openReconciled(services, laneKey, lane, firstNonce, mark);
}

function reportHeld(
  { events }: Pick<WorkerServices, "events">,
  { chain }: ConnectedChain,
  sender: Address,
  why: string,
) {
  events.alarm("lane_held", { chain: chain.name, sender, why });
}

/** Why lost payments may still be mined. @throws RpcFault */
async function whyStillHeld(
  services: Pick<WorkerServices, "uow">,
  { chain, connection: { reader } }: ConnectedChain,
  {
    sender,
    lane,
    mark,
    used,
  }: {
    readonly sender: Address;
    readonly lane: LaneState;
    readonly mark: number | undefined;
    readonly used: number;
  },
): Promise<string | undefined> {
  if (lane.isReconciled) return undefined;
  if (mark !== undefined)
    return mark > Math.max(lane.nextNonce, used)
      ? `payments with nonces up to ${mark - 1} were broadcast, and neither the database nor the journal has their rows: the lane opens when their nonces are used`
      : undefined;
  // Without a journal, only the chain shows a lost payment, once it is mined.
  const [pending, head] = await Promise.all([reader.nonce(sender, "pending", "highest"), reader.head()]);
  const isQuiet = pending <= Math.max(lane.nextNonce, used);
  const since = isQuiet ? (lane.quietSince ?? head.number) : undefined;
  if (since !== lane.quietSince) await services.uow.run((tx) => tx.lanes.noteQuiet(chain.id, sender, since));
  const quietBlocks = BigInt(Math.max(chain.finalityBlocks, MIN_QUIET_BLOCKS));
  return since !== undefined && head.number >= since + quietBlocks
    ? undefined
    : `Redis has lost the journal of payments: the lane opens when the chain has shown no unknown transaction for ${quietBlocks} blocks`;
}
