import type { ConnectedNonEvmChain } from "../../chains/chains.port.ts";
import type { Services } from "../../db/services.port.ts";

/** Opens the lane of a non-EVM chain's payments: its nonces are a counter of ours, unknown to the chain. */
export async function openNonEvmLane(
  { uow }: Pick<Services, "uow">,
  { chain, connection }: Pick<ConnectedNonEvmChain, "chain" | "connection">,
): Promise<void> {
  await uow.run((tx) => tx.lanes.open(chain.id, connection.solver, 0));
}
