import type { ConnectedChain } from "../ports/chains.ts";
import type { Services } from "../ports/services.ts";
import { areUsedElsewhere } from "./unexplained-nonces.ts";
import { laneSigners } from "./lane-signers.ts";
import type { LaneKeys } from "./lane-signers.ts";

/**
 * Makes sure that every sender has its lane, and that it gives no nonce away that the chain has used: with every start and every round of care, because the key may have been used elsewhere.
 * @throws RpcFault
 */
export async function openLane(
  services: LaneKeys & Pick<Services, "uow" | "reads" | "events">,
  connected: Pick<ConnectedChain, "chain" | "connection">,
): Promise<void> {
  const { chain, connection } = connected;
  for (const { address } of laneSigners(services)) {
    const used = await connection.reader.nonce(address, "latest");
    const next = (await services.reads.lane(chain.id, address))?.nextNonce ?? used;
    // Nonces of payments that the database has lost are not skipped: nothing is planned until they are explained.
    if (used > next && !(await areUsedElsewhere(services, connected, { sender: address, next, used })))
      continue;
    await services.uow.run((tx) => tx.lanes.open(chain.id, address, used));
  }
}
