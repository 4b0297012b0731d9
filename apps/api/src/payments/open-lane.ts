import { RpcFault } from "@causeway/chains";
import type { Address } from "@causeway/domain";
import type { LaneChain } from "../chains/chains.port.ts";
import type { Services } from "../db/services.port.ts";
import { explainNonces } from "./unexplained-nonces.ts";
import { type LaneKeys, laneSigners } from "../chains/index.ts";

type Needs = LaneKeys & Pick<Services, "uow" | "reads" | "events" | "formerSigners">;

/**
 * Opens every sender's lane and raises it past nonces that the chain has used: at startup and in every round,
 * since the key may have been used elsewhere. Also follows lanes of configured former keys, whose payments a
 * failover may have lost.
 * @throws RpcFault
 */
export async function openLane(services: Needs, connected: LaneChain): Promise<void> {
  for (const { address } of laneSigners(services)) await raiseLane(services, connected, address, true);
  for (const { address } of services.formerSigners ?? [])
    await raiseLane(services, connected, address, false);
}

async function raiseLane(
  services: Needs,
  connected: LaneChain,
  sender: Address,
  isCurrent: boolean,
): Promise<void> {
  const { chain, connection } = connected;
  const used = await connection.reader.nonce(sender, "latest", "highest");
  const lane = await services.reads.lane(chain.id, sender);
  if (lane === undefined && !isCurrent) return;
  // What the former database server knew of these nonces is not known yet.
  if (lane?.isServerNew === true) return;
  if (lane !== undefined && used > lane.nextNonce) {
    const [lowest] = await services.reads.trail(chain.id);
    // Remembers the lowest known block now: the search may have to wait for a node with old state.
    if (lane.searchFrom === undefined && lowest !== undefined)
      await services.uow.run((tx) => tx.lanes.noteSearchFrom(chain.id, sender, lowest.number));
    const range = { sender, lane: { ...lane, searchFrom: lane.searchFrom ?? lowest?.number }, used };
    const explained = await explainNonces(services, connected, range).catch((error: unknown) => {
      // A node without old state leaves the lane as it is. The chain is scanned all the same.
      if (!(error instanceof RpcFault)) throw error;
      services.events.fault("chain_fault", error, { chain: chain.name, sender });
    });
    // Nonces of lost payments are not skipped: nothing is planned until their rows are restored.
    if (explained === undefined || !explained.isComplete || (isCurrent && explained.hasLost)) return;
  }
  // One endpoint's false count must not decide where a new lane begins.
  const start = lane === undefined ? await connection.reader.nonce(sender, "latest") : used;
  await services.uow.run((tx) => tx.lanes.open(chain.id, sender, start));
}
