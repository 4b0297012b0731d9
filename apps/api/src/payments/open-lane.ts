import { RpcFault } from "@causeway/chains";
import type { Address } from "@causeway/domain";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { Services } from "../db/services.port.ts";
import { explainNonces } from "./unexplained-nonces.ts";
import { laneSigners } from "../chains/lane-signers.ts";
import type { LaneKeys } from "../chains/lane-signers.ts";

type Needs = LaneKeys & Pick<Services, "uow" | "reads" | "events" | "formerSigners">;
type OneChain = Pick<ConnectedChain, "chain" | "connection">;

/**
 * Makes sure that every sender has its lane, and that it gives no nonce away that the chain has used: with
 * every start and every round of care, because the key may have been used elsewhere. Lanes of the solver's
 * former keys are followed, too, while these are configured: their payments may be among what a failover has
 * lost.
 * @throws RpcFault
 */
export async function openLane(services: Needs, connected: OneChain): Promise<void> {
  for (const { address } of laneSigners(services)) await raiseLane(services, connected, address, true);
  for (const { address } of services.formerSigners ?? [])
    await raiseLane(services, connected, address, false);
}

async function raiseLane(
  services: Needs,
  connected: OneChain,
  sender: Address,
  isCurrent: boolean,
): Promise<void> {
  const { chain, connection } = connected;
  const used = await connection.reader.nonce(sender, "latest");
  const lane = await services.reads.lane(chain.id, sender);
  if (lane === undefined && !isCurrent) return;
  // What the former server knew of these nonces is not known yet.
  if (lane?.isServerNew === true) return;
  if (lane !== undefined && used > lane.nextNonce) {
    const [lowest] = await services.reads.trail(chain.id);
    // The blocks that are remembered now will not be for long: the search may have to wait for a node that
    // knows their states.
    if (lane.searchFrom === undefined && lowest !== undefined)
      await services.uow.run((tx) => tx.lanes.noteSearchFrom(chain.id, sender, lowest.number));
    const range = { sender, lane: { ...lane, searchFrom: lane.searchFrom ?? lowest?.number }, used };
    const explained = await explainNonces(services, connected, range).catch((error: unknown) => {
      // A node that has forgotten old states leaves the lane as it is. The chain is scanned all the same.
      if (!(error instanceof RpcFault)) throw error;
      services.events.fault("chain_fault", error, { chain: chain.name, sender });
    });
    // Nonces of payments that the database has lost are not skipped: nothing is planned until their rows are
    // restored.
    if (explained === undefined || !explained.isComplete || (isCurrent && explained.hasLost)) return;
  }
  await services.uow.run((tx) => tx.lanes.open(chain.id, sender, used));
}
