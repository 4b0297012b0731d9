import { RpcFault } from "@causeway/chains";
import type { Address } from "@causeway/domain";
import type { ConnectedChain } from "../ports/chains.ts";
import type { Services } from "../ports/services.ts";
import { explainNonces } from "./unexplained-nonces.ts";
import { laneSigners } from "./lane-signers.ts";
import type { LaneKeys } from "./lane-signers.ts";

type Needs = LaneKeys & Pick<Services, "uow" | "reads" | "events">;
type OneChain = Pick<ConnectedChain, "chain" | "connection">;

/**
 * Makes sure that every sender has its lane, and that it gives no nonce away that the chain has used: with every start and every round of care, because the key may
 * have been used elsewhere. Lanes of former keys are followed, too: their payments may be among what a failover has lost.
 * @throws RpcFault
 */
export async function openLane(services: Needs, connected: OneChain): Promise<void> {
  const current = laneSigners(services).map(({ address }) => address);
  for (const sender of new Set([...current, ...(await services.reads.laneSenders(connected.chain.id))]))
    await raiseLane(services, connected, sender, current.includes(sender));
}

async function raiseLane(
  services: Needs,
  connected: OneChain,
  sender: Address,
  isCurrent: boolean,
): Promise<void> {
  const { chain, connection } = connected;
  const used = await connection.reader.nonce(sender, "latest");
  const next = (await services.reads.lane(chain.id, sender))?.nextNonce ?? used;
  if (used > next) {
    const range = { sender, next, used };
    const explained = await explainNonces(services, connected, range).catch((error: unknown) => {
      // A node that has forgotten old states leaves the lane as it is. The chain is scanned all the same.
      if (!(error instanceof RpcFault)) throw error;
      services.events.fault("chain_fault", error, { chain: chain.name, sender });
    });
    // Nonces of payments that the database has lost are not skipped: nothing is planned until their rows are restored.
    if (explained === undefined || !explained.isComplete || (isCurrent && explained.hasLost)) return;
  }
  await services.uow.run((tx) => tx.lanes.open(chain.id, sender, used));
}
