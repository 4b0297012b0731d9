import type { ConnectedChain } from "../ports/chains.ts";
import type { Services } from "../ports/services.ts";

/**
 * Makes sure that a lane exists and gives no nonce away that the chain has used: with every start and every round of care, because the key may have been used elsewhere.
 * @throws RpcFault
 */
export async function openLane(
  services: Pick<Services, "uow" | "signer">,
  { chain, connection }: Pick<ConnectedChain, "chain" | "connection">,
): Promise<void> {
  const used = await connection.reader.nonce(services.signer.address, "latest");
  await services.uow.run((tx) => tx.lanes.open(chain.id, services.signer.address, used));
}
